"""The surface of `codex exec --json`."""
