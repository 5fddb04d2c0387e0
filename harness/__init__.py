"""Conformance harness for coding-agent runtimes.

`harness/README.md` is the contract that every part keeps.
"""

__version__ = "0.1.0"
