"""The surface of `codex app-server`."""
