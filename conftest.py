"""What pytest needs for the whole project: the harness's own plugin (pyproject.toml names it)."""

pytest_plugins = ["pytester"]
