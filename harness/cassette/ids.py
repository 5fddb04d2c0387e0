"""Ids that agents mint, renamed by first appearance to ids of the same form."""

import re

_ID = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12})"
    r"|(?P<hex>[0-9a-f]{32}|[0-9A-F]{32})"
    r"|(?P<known>(?:ses|msg|prt|per|que|evt|toolu|tool|pty|call|req|resp|item|rs|fc|ws|run)_)"
    r"(?P<body>[0-9A-Za-z]{20,})"
    r"|(?P<prefix>[a-z]{2,12}_)(?P<mixed>(?=[a-zA-Z]*[0-9])(?=[0-9]*[a-zA-Z])[0-9A-Za-z]{20,})"
    # A time in milliseconds as a part of an id: `write_file_1767225600000_0`.
    r"|(?P<stamp>(?<=[a-z]_)1\d{12}(?=_\d))"
    r")(?![0-9A-Za-z])"
)
_NIL = "0" * 32


class Ids:
    """Renames ids, and remembers them: one id is one id wherever it stands.

    A UUID keeps its version, so that one of version 7 is one; its time is the fixed one. With
    and without dashes it has the same number. A time in an id becomes the fixed one, the next one
    a millisecond later. Others keep prefix and length.
    """

    def __init__(self, milliseconds: int, keep: str) -> None:
        self._time = f"{milliseconds:012x}"
        self._stamp = milliseconds
        self._keep = keep
        self._numbers: dict[str, int] = {}
        self._stamps: dict[str, int] = {}

    def rename(self, text: str) -> str:
        """Return the text with its ids renamed."""
        return _ID.sub(self._rename, text)

    def of_form(self, match: re.Match[str]) -> str:
        """Return an id with its random part, the first group, renamed: its form stays."""
        found = match[0]
        if found in self._keep:
            return found
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        zeros = re.sub(r"[0-9A-Za-z]", "0", match[1])
        number = str(self._number(found))
        return f"{found[:start]}{zeros[: -len(number)]}{number}{found[end:]}"

    def _rename(self, match: re.Match[str]) -> str:
        found = match[0]
        if found in self._keep:
            return found
        if match["uuid"] or match["hex"]:
            return self._uuid(found)
        if match["stamp"]:
            return f"{self._stamp + self._stamps.setdefault(found, len(self._stamps)):013d}"
        prefix = match["known"] or match["prefix"]
        body = match["body"] or match["mixed"]
        return f"{prefix}{self._number(found):0{len(body)}d}"

    def _uuid(self, found: str) -> str:
        bare = found.replace("-", "").lower()
        if bare == _NIL:
            return found
        number = f"{self._number(bare):012x}"
        # Without dashes it may be any random number: what looks like a version is chance.
        version = bare[12] if "-" in found else "4"
        start = self._time if version == "7" else "0" * 12
        new = f"{start[:8]}-{start[8:]}-{version}000-8000-{number}"
        if "-" not in found:
            new = new.replace("-", "")
        return new if found == found.lower() else new.upper()

    def _number(self, found: str) -> int:
        return self._numbers.setdefault(found, len(self._numbers) + 1)
