"""What of a real Codex recording is chance, as its manifest says, and what beside it is not."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from harness.cassette import CassetteWriter, Frame, open_cassette
from harness.project import find_project
from harness.recording.verify import differences

FIRST = (
    find_project(Path(__file__)).cassettes / "codex-app-server/codex-0.163.0/command-declined.jsonl"
)
STATUS, RESOLVED = "thread/status/changed", "serverRequest/resolved"


def method(frame: Frame) -> Any:
    return frame.data.get("method") if isinstance(frame.data, dict) else None


def other(path: Path, changed: str, by: int | None) -> Path:
    """Write the cassette with the last notification of this method before the item's end moved.

    `by`: so many frames later; None: it does not come.
    """
    with open_cassette(FIRST) as cassette:
        header, frames = cassette.header, list(cassette)
        assert cassette.footer is not None
        end = cassette.footer.exit_code
    asked = next(n for n, f in enumerate(frames) if str(method(f)).endswith("requestApproval"))
    at = next(n for n, f in enumerate(frames) if n > asked and method(f) == changed)
    frame = frames.pop(at)
    if by is not None:
        frames.insert(at + by, frame)
    with CassetteWriter(path, header) as writer:
        for f in frames:
            if f.data is UNSET:
                writer.frame(0, f.dir, f.channel, "text", f.text)
            else:
                writer.frame(0, f.dir, f.channel, "data", f.data)
        writer.finish(complete=True, exit_code=end)
    return path


@pytest.mark.parametrize("by", [-1, 2])
def test_the_status_may_come_before_or_after_the_end_of_the_command(
    tmp_path: Path, by: int
) -> None:
    assert differences(FIRST, other(tmp_path / "b.jsonl", STATUS, by)) == []


@pytest.mark.parametrize(
    ("changed", "by", "part"),
    [(STATUS, None, STATUS), (RESOLVED, None, "frames"), (RESOLVED, 3, "frames")],
)
def test_one_that_is_missing_or_another_that_moves_is_a_difference(
    tmp_path: Path, changed: str, by: int | None, part: str
) -> None:
    found = differences(FIRST, other(tmp_path / "b.jsonl", changed, by))
    assert found[0].startswith(f"{part}, number ")
