"""Running a real agent and writing down its wire."""

from harness.recording.errors import RecordError
from harness.recording.record import Progress, Recording, record

__all__ = ["Progress", "RecordError", "Recording", "record"]
