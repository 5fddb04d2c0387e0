"""Scrubbing at record time: what differs from run to run gets a constant of the same form.

Ids are renamed by first appearance, so one id stays one id. Paths, times, durations, process
ids, the model server's port and the machine's names get fixed values. What a scenario itself
says is kept: it is the same in each run.
"""

import base64
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field

from harness.cassette.encodings import path_forms
from harness.cassette.ids import Ids

BASE = datetime(2026, 1, 1, tzinfo=UTC)
"""The time that takes the place of every time near the recording's."""

RULES = ["paths", "ids", "times", "durations", "processes", "port", "names"]
"""What is scrubbed on every wire: the header's `scrub`. A wire's own rules add `wire`."""

PORT = 8080
_NEAR = 8 * 86400
_CACHED = 256
_CACHE = 10_000

_DURATION = re.compile(
    r"(?i)(duration|elapsed|latency)(_?(ms|millis|s|secs|seconds|us|ns))?$|^duration"
)
_PROCESS = frozenset({"pid", "ppid", "processId", "process_id"})
_TIME = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?:([T ])(\d\d)([:-])(\d\d)\6(\d\d)([.,]\d+)?)?(?!\d)"
)
_FOLDERS = re.compile(r"(?<!\d)(\d{4})/(\d\d)/(\d\d)(?!\d)")
_EPOCH = re.compile(r"(?<![\d.])(\d{10}|\d{13}|\d{16}|\d{19})(?!\d)")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(\.\d+)?")


class Rules(Struct, frozen=True):
    """What of one wire is scrubbed beyond what is scrubbed on every wire.

    `durations` are the keys whose numbers say how long something took, `processes` the keys whose
    values are ids of processes. `constants` gives for a key the value that takes the place of any
    other of the same JSON type. `patterns` are regular expressions with their replacements,
    applied to each string. `ids` are forms of ids that only this wire has, each with a group for
    what of the id is random: they are renamed by first appearance. `prose` gives for a key how
    many characters are kept of a text: for what an agent says at length of itself, and nothing
    reads.
    """

    durations: frozenset[str] = frozenset()
    processes: frozenset[str] = frozenset()
    constants: Mapping[str, Any] = field(default_factory=dict)
    patterns: tuple[tuple[str, str], ...] = ()
    ids: tuple[str, ...] = ()
    prose: Mapping[str, int] = field(default_factory=dict)


class ScrubError(ValueError):
    """Two keys of one object would become one."""


class Scrubber:
    """Scrubs one recording, frame by frame, in order.

    `paths` gives for each real path its fixed one, `words` for each name of the machine's
    (host, user, kernel) its fixed one. `now` is the recording's start in seconds since 1970:
    times within eight days of it, or of one of `also`, are the run's. `keep` is the scenario's
    text.
    """

    def __init__(  # noqa: PLR0913 - one argument a kind of thing
        self,
        rules: Rules,
        *,
        paths: Mapping[str, str],
        words: Mapping[str, str],
        port: int,
        now: float,
        keep: str = "",
        also: Iterable[float] = (),
    ) -> None:
        self.applied = [*RULES, *(["wire"] if rules != Rules() else [])]
        self._rules = rules
        self._port = port
        self._real_port = str(port)
        self._moments = (now, *also)
        self._keep = keep
        self._ids = Ids(int(BASE.timestamp() * 1000), keep)
        self._processes: dict[str, int] = {}
        self._cache: dict[str, str] = {}
        self._paths = _table(paths)
        self._path = _alternation(self._paths, r"(?<![A-Za-z0-9_.])", r"(?![A-Za-z0-9_])")
        self._words = dict(words)
        self._word = _alternation(self._words, r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])")
        self._address = re.compile(
            rf"(127\.0\.0\.1|localhost|\[::1\]|%5B%3A%3A1%5D)(:|%3A|%3a){port}(?!\d)"
        )
        self._forms = [re.compile(form) for form in rules.ids]
        self._patterns = [(re.compile(old), new) for old, new in rules.patterns]

    def content(self, field: str, value: Any) -> tuple[str, Any]:
        """Scrub a frame's content, which stands in `field`. Raises ScrubError."""
        if field == "data":
            return field, self.value(value)
        if field == "text":
            return field, self.text(value)
        line = base64.b64decode(value).decode("utf-8", "surrogateescape")
        again = self.text(line).encode("utf-8", "surrogateescape")
        return field, base64.b64encode(again).decode()

    def value(self, value: Any, key: str = "") -> Any:
        """Scrub a JSON value, which stands under `key` in its object. Raises ScrubError."""
        if isinstance(value, dict):
            scrubbed = {self.text(k): self._member(k, v) for k, v in value.items()}
            if len(scrubbed) != len(value):
                raise ScrubError(f"two keys of an object become one: {', '.join(value)}")
            return scrubbed
        if isinstance(value, list):
            return [self.value(v, key) for v in value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if value == self._port and "port" in key.lower():
                return PORT
            return self._moment(value)
        return value

    def text(self, text: str) -> str:
        """Scrub a string."""
        known = self._cache.get(text)
        if known is not None:
            return known
        scrubbed = self._text(text)
        if len(text) < _CACHED and len(self._cache) < _CACHE:
            self._cache[text] = scrubbed
        return scrubbed

    def _text(self, text: str) -> str:
        # Most strings hold nothing of the kind: a look for what each rule needs is much cheaper.
        if any(form in text for form in self._paths):
            text = self._path.sub(lambda match: self._paths[match[0]], text)
        if self._real_port in text:
            text = self._address.sub(rf"\1\g<2>{PORT}", text)
        if _DIGIT.search(text):
            text = self._ids.rename(text)
            text = _TIME.sub(self._date, text)
            text = _FOLDERS.sub(self._date_folders, text)
            text = _EPOCH.sub(self._epoch, text)
        elif "_" in text:
            text = self._ids.rename(text)
        for form in self._forms:
            text = form.sub(self._ids.of_form, text)
        for pattern, replacement in self._patterns:
            text = pattern.sub(replacement, text)
        if any(word in text for word in self._words):
            text = self._word.sub(lambda match: self._words[match[0]], text)
        return text

    def _member(self, key: str, value: Any) -> Any:
        if key in self._rules.constants and type(value) is type(self._rules.constants[key]):
            return self._rules.constants[key]
        if isinstance(value, str) and len(value) > self._rules.prose.get(key, len(value)):
            return f"{self.text(value)[: self._rules.prose[key]]}…"
        if key in self._rules.durations or _DURATION.search(key):
            return _constant(value)
        if key in _PROCESS or key in self._rules.processes:
            return self._process(value, key)
        return self.value(value, key)

    def _process(self, value: Any, key: str) -> Any:
        if isinstance(value, bool) or not (
            isinstance(value, int) or (isinstance(value, str) and value.isdecimal())
        ):
            return self.value(value, key)
        number = self._processes.setdefault(str(value), 1000 + len(self._processes))
        return str(number) if isinstance(value, str) else number

    def _moment(self, value: float) -> float:
        for scale in (1, 10**3, 10**6, 10**9):
            if 0 <= value / scale - BASE.timestamp() < 1:
                # It is one already, as a part of an id: there it tells two ids apart.
                return value
            if self._is_near(value / scale) and str(value) not in self._keep:
                return type(value)(BASE.timestamp() * scale)
        return value

    def _epoch(self, match: re.Match[str]) -> str:
        # Not through a number unless it is a time: zeros that lead it would be lost.
        number = int(match[0])
        moment = self._moment(number)
        return match[0] if moment == number else str(moment)

    def _is_now(self, year: str, month: str, day: str, whole: str) -> bool:
        try:
            then = datetime(int(year), int(month), int(day), tzinfo=UTC)
        except ValueError:
            return False
        return self._is_near(then.timestamp()) and whole not in self._keep

    def _is_near(self, moment: float) -> bool:
        return any(abs(moment - when) < _NEAR for when in self._moments)

    def _date(self, match: re.Match[str]) -> str:
        year, month, day, between, _, colon, _, _, fraction = match.groups()
        if not self._is_now(year, month, day, match[0]):
            return match[0]
        date = f"{BASE:%Y-%m-%d}"
        if between is None:
            return date
        zeros = f"{fraction[0]}{'0' * (len(fraction) - 1)}" if fraction else ""
        return f"{date}{between}00{colon}00{colon}00{zeros}"

    def _date_folders(self, match: re.Match[str]) -> str:
        near = self._is_now(match[1], match[2], match[3], match[0])
        return f"{BASE:%Y/%m/%d}" if near else match[0]


def _constant(value: Any) -> Any:
    """Replace each number by one of its type."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return type(value)(1)
    if isinstance(value, str):
        return _NUMBER.sub("1", value)
    if isinstance(value, dict):
        return {k: _constant(v) for k, v in value.items()}
    return [_constant(v) for v in value]


def _table(paths: Mapping[str, str]) -> dict[str, str]:
    """Map each form of each real path, links resolved or not, to that form of the fixed one."""
    table: dict[str, str] = {}
    for real, fixed in paths.items():
        for variant in (real, os.path.realpath(real)):
            for form, instead in zip(path_forms(variant), path_forms(fixed), strict=True):
                table.setdefault(form, instead)
    return table


def _alternation(table: Iterable[str], before: str, after: str) -> re.Pattern[str]:
    longest_first = sorted(table, key=len, reverse=True)
    if not longest_first:
        return re.compile(r"(?!)")  # matches nothing
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest_first))}){after}")
