"""The normalizer under test, in this process or behind a command, behind one seam."""

from harness.subject.base import (
    Aside,
    Claims,
    Given,
    Junk,
    Session,
    Subject,
    SubjectError,
    coerce,
    listed,
    said,
    told,
)
from harness.subject.faults import FaultError, Limits
from harness.subject.inprocess import InProcess, Reference, exits_held, reference, standard_open
from harness.subject.load import is_command, load_command, load_subject
from harness.subject.stdio import Stdio

__all__ = [
    "Aside",
    "Claims",
    "FaultError",
    "Given",
    "InProcess",
    "Junk",
    "Limits",
    "Reference",
    "Session",
    "Stdio",
    "Subject",
    "SubjectError",
    "coerce",
    "exits_held",
    "is_command",
    "listed",
    "load_command",
    "load_subject",
    "reference",
    "said",
    "standard_open",
    "told",
]
