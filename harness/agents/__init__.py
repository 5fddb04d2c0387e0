"""Agents from npm, in a folder of the user's own: where they lie, and how they get there."""
