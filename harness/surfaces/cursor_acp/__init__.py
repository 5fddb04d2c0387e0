"""Cursor's `agent acp`: ACP and the `cursor/*` methods."""
