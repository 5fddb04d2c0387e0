"""A real model between its provider and the agent: recorded once, then played without either."""
