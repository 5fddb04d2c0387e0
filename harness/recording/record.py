"""A whole recording: one scenario, one surface, one real agent, one cassette."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from harness.recording.errors import RecordError


class Progress(Struct, frozen=True):
    """Where a recording is: a step in words, and the frames so far."""

    step: str
    frames: int


class Recording(Struct, frozen=True):
    """What came of a recording. `seconds` is wall time; `notices` are worth a person's look.

    `refused_connections` counts attempts to leave the network namespace (None: not isolated),
    `unhandled` names what the agent asked and the client did not know.
    """

    surface: str
    scenario: str
    agent: str
    path: Path
    frames: int
    seconds: float
    isolated: bool
    refused_connections: int | None
    unhandled: list[str]
    notices: list[str]


def record(  # noqa: PLR0913 - each is a choice of the command's
    surface_name: str,
    scenario_id: str,
    into: Path,
    *,
    agent_path: str | None = None,
    isolate: bool | None = None,
    timeout: float = 60.0,
    port: int = 0,
    on_event: Callable[[Progress], None] | None = None,
) -> Recording:
    """Record a scenario into `into/SURFACE/AGENT-VERSION/SCENARIO.jsonl`.

    Raises RecordError; then nothing was changed under `into`, and no process is left.
    """
    raise RecordError(5, "not built yet")
