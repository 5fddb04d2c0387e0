"""The normalizer under test: in this process now, over stdio later, behind one seam."""

from harness.subject.base import (
    RAISED,
    Aside,
    Given,
    Junk,
    Session,
    Subject,
    SubjectError,
    coerce,
    listed,
    told,
)
from harness.subject.inprocess import InProcess, Reference
from harness.subject.load import load_subject

__all__ = [
    "RAISED",
    "Aside",
    "Given",
    "InProcess",
    "Junk",
    "Reference",
    "Session",
    "Subject",
    "SubjectError",
    "coerce",
    "listed",
    "load_subject",
    "told",
]
