"""The last look at a cassette before it is put in place: nothing of the machine is in it.

Scrubbing is a list of known places; this looks for the secrets themselves, in each form that
they could take, in keys and values, and in text that is split over several frames.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from harness.cassette.encodings import secret_forms
from harness.cassette.format import Frame, Header
from harness.cassette.reader import open_cassette

_GENERIC = frozenset(
    {"root", "user", "users", "admin", "administrator", "ubuntu", "debian", "agent", "home"}
    | {"nobody", "runner", "vscode", "node", "guest", "test", "localhost", "local", "host"}
    | {"localdomain", "container", "docker", "linux", "computer", "default"}
)
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|credential|auth|cookie|session_id")
_SHORTEST_VALUE = 8
_SHORTEST_NAME = 4
_LONGEST_ID = 64
_SHORTEST_FORM = 12
_LONGEST_FORM = 255
"""Characters that are kept of a text that goes on in a later frame."""


class Secret(Struct, frozen=True):
    """Something that must not be in a cassette; `rule` says what it is, never its value.

    `word`: only where no letter or digit stands beside it, in any case of letters.
    """

    rule: str
    value: str
    word: bool = False


Forms: TypeAlias = Callable[[str, str], str | None]


def no_forms(_text: str, _before: str) -> None:
    """Find nothing: the secrets are known."""


class Leak(Struct, frozen=True):
    """A secret that was found: in which frame (0: the header), where, by which rule."""

    frame: int
    where: str
    rule: str

    def __str__(self) -> str:
        place = f"frame {self.frame}" if self.frame else "the header"
        return f"{place}, at {self.where}: {self.rule}"


def machine_secrets(  # noqa: PLR0913 - one argument a kind of secret
    *, host: str, user: str, home: str, temp: str, environ: Mapping[str, str], keys: Iterable[str]
) -> list[Secret]:
    """Return what of this machine must not be in a cassette.

    Names that say nothing of anyone (`root`, `localhost`, and those shorter than four
    characters, which are words of any text) are left out, as is a home named after one.
    """
    secrets = [Secret("the temporary folder's path", temp)] if temp else []
    secrets += [Secret("a key that the agent was given", key) for key in keys]
    for rule, name in (("the host's name", host), ("the user's name", user)):
        if len(name) >= _SHORTEST_NAME and name.lower() not in _GENERIC:
            secrets.append(Secret(rule, name, word=True))
    last = home.rstrip("/").rpartition("/")[2]
    if last and last.lower() not in _GENERIC:
        secrets.append(Secret("the real home folder's path", home))
    for name, value in environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_VALUE and value not in keys:
            secrets.append(Secret(f"the value of the environment's {name}", value))
    return secrets


class LeakFinder:
    """Looks for secrets frame by frame, in order. Memory is bounded by the places that text has.

    `forms` names what a text, or what it ends that stood before it, holds that its form alone
    gives away; None where there is nothing.
    """

    def __init__(self, secrets: Iterable[Secret], forms: Forms = no_forms) -> None:
        self._forms = forms
        self._rules: dict[str, str] = {}
        self._words: dict[str, tuple[re.Pattern[str], str]] = {}
        for secret in secrets:
            for form, text in secret_forms(secret.value):
                rule = f"{secret.rule} ({form})"
                if secret.word and form in ("plain", "JSON", "URL"):
                    low = text.lower()
                    pattern = re.compile(rf"(?<![^\W_]){re.escape(low)}(?![^\W_])")
                    self._words.setdefault(low, (pattern, rule))
                elif text:
                    self._rules.setdefault(text, rule)
        longest = max(map(len, [*self._rules, *self._words]), default=0)
        self._keep = max(longest - 1, _LONGEST_FORM)
        self._tails: dict[tuple[object, ...], str] = {}

    def header(self, header: Header) -> Iterator[Leak]:
        """Yield what is found in a header."""
        for where, text in (
            ("command", "\n".join(header.command)),
            ("capabilities", repr(header.capabilities)),
            ("agent", f"{header.agent.name} {header.agent.version} {header.protocol}"),
        ):
            if rule := self._find(text) or self._forms(text, ""):
                yield Leak(0, where, rule)

    def frame(self, frame: Frame) -> Iterator[Leak]:
        """Yield what is found in a frame, or in the text that it continues."""
        content = frame.content
        if isinstance(frame.b64, str):
            content = base64.b64decode(frame.b64).decode("latin-1")
        for path, text, beside in _strings(content, (), ()):
            rule = self._find(text) or self._forms(text, "")
            rule = rule or self._joined(frame, path, text, beside)
            if rule:
                yield Leak(frame.seq, ".".join(map(str, path)) or "its text", rule)

    def _find(self, text: str) -> str | None:
        for form, rule in self._rules.items():
            if form in text:
                return rule
        if self._words:
            folded = text.lower()
            for form, (pattern, rule) in self._words.items():
                if form in folded and pattern.search(folded):
                    return rule
        return None

    def _joined(
        self, frame: Frame, path: tuple[str, ...], text: str, beside: tuple[tuple[str, Any], ...]
    ) -> str | None:
        """Look at the text together with what stood before in its place.

        Deltas of two items may come in turns, and each frame may have an id of its own: so the
        place alone is tried, and the place with each value that stands beside the text.
        """
        found = None
        place = (frame.dir, frame.channel, path)
        for key in (place, *((*place, *pair) for pair in beside)):
            tail = self._tails.get(key, "")
            if tail and found is None:
                more = text[: self._keep + 1]
                found = self._find(tail + more)
                # Names are not split over frames, and what each frame says again goes on with
                # nothing: most of what frames hold is that.
                again = len(text) >= _SHORTEST_FORM and tail.endswith(text)
                if found is None and path[-1:] != ("key",) and not again:
                    found = self._forms(more, tail)
            # After a finding, or there would be one in each frame that follows.
            self._tails[key] = "" if found else (tail + text)[-self._keep :]
        return found


def find_leaks(path: Path, secrets: Iterable[Secret], forms: Forms = no_forms) -> list[Leak]:
    """Return what is found in a cassette's file, finished or not. Raises CassetteError."""
    finder = LeakFinder(secrets, forms)
    with open_cassette(path) as cassette:
        leaks = list(finder.header(cassette.header))
        for frame in cassette:
            leaks.extend(finder.frame(frame))
    return leaks


def _strings(
    value: Any, path: tuple[str, ...], beside: tuple[tuple[str, Any], ...]
) -> Iterator[tuple[tuple[str, ...], str, tuple[tuple[str, Any], ...]]]:
    """Yield each string with its place and the short values beside it or above it.

    Places in an array are one place: an array of parts is text that is split too.
    """
    if isinstance(value, str):
        yield path, value, beside
    elif isinstance(value, dict):
        here = tuple(
            (k, v)
            for k, v in value.items()
            if isinstance(v, (str, int)) and len(str(v)) <= _LONGEST_ID
        )
        for key, member in value.items():
            yield (*path, "key"), key, ()
            yield from _strings(
                member, (*path, key), (*beside, *(pair for pair in here if pair[0] != key))
            )
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member, (*path, "[]"), beside)
