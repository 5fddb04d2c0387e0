"""Recordings of agents that are played back: what they say of themselves, and where they stay."""

from pathlib import Path
from typing import Final

from harness.cassette import CassetteError, open_cassette
from harness.playback.shim import Played
from harness.recording.errors import RecordError

_SOURCE: Final = "played back: "


def sources_of(played: Played) -> list[str]:
    """Return the sources of such a recording: the cassette, and how that one came to be."""
    return [f"{_SOURCE}{played.cassette} ({played.provenance})"]


def not_for_the_corpus(program: str) -> RecordError:
    """Return the error of recording such an agent into the project's own cassettes."""
    return RecordError(
        2,
        f"{program} is played back from a cassette: what is recorded of it is none for "
        "cassettes/; name another folder with --into",
    )


def keep_real(path: Path) -> None:
    """Raise RecordError where such a recording would take the place of another one."""
    try:
        with open_cassette(path) as cassette:
            sources = cassette.header.sources
    except CassetteError:
        if not path.exists():
            return
        sources = []
    if not any(source.startswith(_SOURCE) for source in sources):
        raise RecordError(
            2,
            f"{path} is no recording of a played-back agent, and none may take its place: "
            "choose another folder with --into",
        )
