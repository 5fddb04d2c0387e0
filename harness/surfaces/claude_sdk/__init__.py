"""The surface of the Claude Agent SDK: its wire to the Claude CLI."""
