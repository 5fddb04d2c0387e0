"""What ends a run, whoever's code it comes through: nothing but the way out may catch it."""


class UnwoundError(BaseException):
    """A signal asked this process to end."""


ENDS = (KeyboardInterrupt, UnwoundError)
"""Ctrl-C is the user's, and a signal the system's: neither is a normalizer's fault."""
