"""Running a real agent and writing down its wire."""

from harness.recording.errors import RecordError
from harness.recording.job import Progress, Recording
from harness.recording.record import record

__all__ = ["Progress", "RecordError", "Recording", "record"]
