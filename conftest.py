"""What pytest needs for the whole project: the harness's own plugin (pyproject.toml names it)."""

import signal

pytest_plugins = ["pytester"]

# `nohup` and a shell's `&` start a program that ignores them, and so would all that tests start.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(
            _number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL
        )
