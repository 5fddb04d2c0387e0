"""Which keys of a letter were pressed at a terminal, out of the bytes that it sends."""

import re

_SEQUENCE = re.compile(rb"\x1b(?:[\[O][0-9;?]*[ -/]*[@-~]|.)?", re.DOTALL)
"""What other keys send, such as an arrow: Esc, and letters that nobody has typed."""


def pressed(sent: bytes) -> str:
    """Return the keys, in small letters; those that send a sequence are left out."""
    return _SEQUENCE.sub(b"", sent).decode("ascii", "replace").lower()
