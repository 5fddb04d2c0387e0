"""The surface `opencode`: its server's HTTP exchanges and its `/event` stream."""
