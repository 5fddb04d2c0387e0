"""What a normalizer behind a command can do wrong, as the harness says it, and its limits."""

from typing import Final, Literal

from msgspec import Struct

FaultKind = Literal[
    "failed",
    "crashed",
    "ended",
    "hung",
    "closed",
    "junk",
    "wrong-id",
    "wrong-shape",
    "too-much",
    "memory",
    "unasked",
    "not-started",
]
"""Each is the subject's fault. After all but `failed` its process is killed and started anew."""

TAIL: Final = 8 << 10
"""How many bytes of a subject's stderr are kept."""


class Limits(Struct, frozen=True):
    """What a subject may take. `seconds` is for one answer, counted while it is waited for.

    `answer` is bytes of one line; `memory` is bytes that its whole process group holds (resident,
    looked at while an answer is waited for and after each cassette; Linux alone), 0 for any.
    """

    seconds: float = 10.0
    answer: int = 64 << 20
    memory: int = 2 << 30


class FaultError(Exception):
    """A subject's fault. `frame` is the one that it names, or 0."""

    def __init__(self, kind: FaultKind, message: str, frame: int = 0) -> None:
        self.kind = kind
        self.frame = frame
        at = f"at frame {frame}: " if frame else ""
        super().__init__(f"{kind}: {at}{message}")

    @property
    def fatal(self) -> bool:
        """Whether its process is over with it."""
        return self.kind != "failed"
