"""Ids are numbered by first appearance, so a frame that moves takes other numbers with it."""

from pathlib import Path

import pytest

from harness.recording.verify import differences
from tests.recording.test_verify import TEXT, room, write

__all__ = ["room"]

ONE = "00000000-0000-4000-8000-000000000001"
TWO = "00000000-0000-4000-8000-000000000002"


def said(uuid: str, text: str = "hello") -> dict[str, str]:
    return TEXT | {"text": text, "uuid": uuid}


def used(uuid: str) -> dict[str, str]:
    return {"kind": "usage", "uuid": uuid}


def test_a_frame_that_moves_may_take_another_number(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", said(ONE), used(TWO))
    second = write(tmp_path / "b.jsonl", used(ONE), said(TWO))
    assert differences(first, second) == []


@pytest.mark.parametrize("other", [(said(ONE), said(ONE)), (said(ONE), said(TWO, "bye"))])
def test_another_identity_is_a_difference(
    tmp_path: Path, other: tuple[dict[str, str], ...]
) -> None:
    first = write(tmp_path / "a.jsonl", said(ONE), said(TWO))
    second = write(tmp_path / "b.jsonl", *other)
    assert differences(first, second)[0] == "frames, number 2 (of 2 and of 2):"
