"""The cassette file, version 1: a header line, frame lines, a footer line. JSON Lines, UTF-8.

A cassette is the ordered duplex record of one conversation with one agent over one surface.
`harness/README.md`, "Cassette, version 1", is the contract.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

FORMAT_VERSION = 1

Direction = Literal["in", "out"]
"""`in` is agent to client, `out` is client to agent."""

Channel = Literal["start", "stdin", "stdout", "stderr", "http", "sse", "exit"]
"""`start` is a process started by the client: its command line carries what it was told."""

Provenance = Literal["live", "scripted", "constructed"]


class Agent(Struct, frozen=True, forbid_unknown_fields=True):
    """One program at the version that it reported of itself."""

    name: str
    version: str

    @property
    def id(self) -> str:
        """The folder name of the agent's cassettes, such as `codex-0.163.0`."""
        return f"{self.name}-{self.version}"


class Header(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The first line. `recorded` is RFC 3339; `command` is scrubbed.

    `scrub` names the rules that were applied; `volatile` what may differ when the same
    scenario is recorded again; `sources` is where a constructed cassette was taken from.
    """

    cassette: int
    surface: str
    provider: Literal["codex", "claude", "cursor", "opencode", "acp"]
    agent: Agent
    scenario: str
    provenance: Provenance
    recorded: str
    protocol: str = ""
    command: list[str] = field(default_factory=list)
    scrub: list[str] = field(default_factory=list)
    volatile: list[str] = field(default_factory=list)
    capabilities: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The cassette's id, which is its path under `cassettes/` without `.jsonl`."""
        return f"{self.surface}/{self.agent.id}/{self.scenario}"


class Frame(Struct, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One record: `at` is milliseconds since the start, the content stands exactly once.

    `data` is a JSON value that survives a round trip, `text` other valid text (a line, its
    line feed taken off), `b64` bytes that are not UTF-8.
    """

    seq: int
    at: int
    dir: Direction
    channel: Channel
    data: Any = UNSET
    text: str | UnsetType = UNSET
    b64: str | UnsetType = UNSET

    @property
    def content(self) -> Any:
        """The content, whichever field holds it: what an event's `raw.payload` must equal."""
        if self.data is not UNSET:
            return self.data
        return self.b64 if self.text is UNSET else self.text


class Footer(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The last line. `checksum` is `sha256:` and the digest of every byte before this line.

    `exit_code` or `signal` is how the agent's (last) process ended, as its exit frame has it;
    `complete` is whether the conversation ran to the scenario's end: where it did not, the
    cassette is a truncated one.
    """

    frames: int
    complete: bool
    checksum: str
    exit_code: int | None = None
    signal: str | None = None


def ending(data: Any) -> tuple[int | None, str | None] | None:
    """Return what an exit frame's data tells: exit code and signal. None where it tells neither."""
    if not isinstance(data, dict):
        return None
    code, signal = data.get("code"), data.get("signal")
    if type(code) not in {int, type(None)} or type(signal) not in {str, type(None)}:
        return None
    return code, signal
