"""Why an agent could not be installed."""


class AgentError(Exception):
    """An agent, or the Node that it needs, that could not be put into the cache. Exit code 5."""
