"""A request's body, reduced to what matching needs: no text of the agent's own is left in it.

The developer's prompts stay as they are, and so do the few words that an API itself defines. Of
all other texts there is a digest: taken once paths, ids, times and the machine's names have their
fixed values, it is the same for the same request in another run. Ids, keys of caches and names of
accounts are left out. What a body holds is kept by a list of what is known, never dropped by one.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

Normal = Callable[[str], str]
"""Gives what differs from run to run in a text its fixed value."""

_WORDS: Final = frozenset(
    {"model", "role", "type", "name", "effort", "summary", "verbosity", "status", "mode"}
    | {"tool_choice", "service_tier", "include", "phase", "stop_reason", "truncation", "format"}
    | {"reasoning_effort", "responseMimeType", "thinkingLevel", "display", "search_context_size"}
)
_WORD: Final = re.compile(r"[A-Za-z][\w.:/-]{0,63}")
_KEY: Final = re.compile(r"(?!.{41})[A-Za-z_$][A-Za-z_.$-]*\d{0,2}[A-Za-z_]*")
OWN: Final = frozenset(
    {"system", "instructions", "systemInstruction", "system_instruction"}
    | {"json_schema", "schema", "responseSchema", "responseJsonSchema", "output_config"}
)
"""Members that are the agent's own as a whole: of each there is one digest."""

_LEFT_OUT: Final = frozenset(
    {"prompt_cache_key", "prompt_cache_retention", "safety_identifier", "user", "metadata"}
    | {"client_metadata", "cache_control", "signature", "thoughtSignature", "thought_signature"}
    | {"encrypted_content", "session", "conversation", "account", "organization", "project"}
)
_ID: Final = re.compile(r"(?:.*[_-])?ids?|.*[a-z](?:Id|ID)s?")

_MONTH: Final = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY: Final = "(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs?)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? +)?"
_VOLATILE: Final = (
    (re.compile(rf"\b{_DAY}{_MONTH} +\d{{1,2}}(?:st|nd|rd|th)?,?(?: +\d{{4}})?\b"), "DATE"),
    (re.compile(rf"\b{_DAY}\d{{1,2}} +{_MONTH},? +\d{{4}}\b"), "DATE"),
    (re.compile(r"\b\d{4}[-/]\d\d?[-/]\d\d?(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?)?\b"), "DATE"),
    (re.compile(r"\b\d{1,2}/\d{1,2}/\d{4}\b"), "DATE"),
    (re.compile(r"\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AP]M)?\b"), "TIME"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:milliseconds|seconds|ms|s)\b"), "SECONDS"),
    (re.compile(r"\b(Wall time|[Dd]uration(?:_ms)?)(\W{1,4})\d+(?:\.\d+)?"), r"\1\g<2>SECONDS"),
    (re.compile(r"\b((?:P|PP|PG|PGP)IDs?|Chunk ID)(\W{1,3})[0-9a-f]+"), r"\1\2ID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
)


def stable(text: str) -> str:
    """Return a text without its dates, times, durations and process ids."""
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text


class Reducer:
    """Reduces the bodies of one conversation's requests.

    `said` are the developer's own texts, asked anew for each request: a person's become more.
    `normal` makes, anew too, what gives a text's paths, ids and names their fixed values.
    """

    def __init__(self, said: Callable[[], Iterable[str]], normal: Callable[[], Normal]) -> None:
        self._of_developer = said
        self._normal = normal

    def body(self, body: bytes, content_type: str) -> bytes:
        """Return the reduced body: JSON with its keys in order, whatever it was before."""
        if not body:
            return b""
        said = {text for text in self._of_developer() if text.strip()}
        longest = sorted(said, key=len, reverse=True)
        reduced = _Reduction(longest, self._normal()).body(body, content_type)
        return msgspec.json.encode(reduced, order="sorted")


class _Reduction:
    """One request's."""

    def __init__(self, said: list[str], normal: Normal) -> None:
        self._said = said
        self._normal = normal

    def body(self, body: bytes, content_type: str) -> Any:
        text = decoded(body, content_type)
        if text is None:
            return {"bytes": _short(body)}
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            if "x-www-form-urlencoded" not in content_type.lower():
                return self._digest(text)
            value = dict(parse_qs(text, keep_blank_values=True))
        try:
            return self._value(value, "")
        except RecursionError:
            return self._digest(text)

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {
                self._name(name): self._member(name, inner)
                for name, inner in value.items()
                if name not in _LEFT_OUT and not _ID.fullmatch(name)
            }
        if isinstance(value, list):
            return [self._value(inner, key) for inner in value]
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > _BIG:
            return 0
        return value

    def _member(self, name: str, value: Any) -> Any:
        if name in OWN and value:
            return self._digest(_canonical(value))
        if name == "tools" and isinstance(value, list):
            return list(self._tools(value))
        return self._value(value, name)

    def _name(self, name: str) -> str:
        return name if _KEY.fullmatch(name) else f"#{_short(name.encode())}"

    def _tools(self, tools: list[Any]) -> Iterable[Any]:
        for tool in tools:
            inner = tool if isinstance(tool, dict) else {}
            several = inner.get("functionDeclarations") or inner.get("function_declarations")
            if isinstance(several, list):
                yield from self._tools(several)
                continue
            own = inner.get("function")
            name = (own if isinstance(own, dict) else inner).get("name") or inner.get("type") or ""
            yield {"name": self._text(str(name), "name"), **self._digest(_canonical(tool))}

    def _text(self, text: str, key: str) -> Any:
        if not text or (key in _WORDS and _WORD.fullmatch(text)):
            return text
        said, around = [], text
        for own in self._said:
            if own in around:
                said.append(own)
                around = around.replace(own, "\0")
        if around == "\0":
            return text
        if said:
            return {"said": said, "around": self._digest(around)}
        return self._digest(text)

    def _digest(self, text: str) -> dict[str, Any]:
        """Return what stands for a text that is not kept."""
        same = stable(self._normal(text))
        return {"sha256": _short(same.encode("utf-8", "surrogatepass")), "chars": len(same)}


_BIG: Final = 10**9
"""Numbers beyond it are times and ids."""


def decoded(body: bytes, content_type: str) -> str | None:
    """Return a body as text, by its declared character set; None where it is none."""
    match = re.search(r"charset=\"?([\w.:-]+)", content_type, re.IGNORECASE)
    try:
        return body.decode(match[1] if match else "utf-8")
    except (UnicodeDecodeError, LookupError):
        return None


def _canonical(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value, order="sorted").decode()


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
