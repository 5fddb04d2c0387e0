"""The normalizer under test: in this process now, over stdio later, behind one seam."""

from harness.subject.base import Given, Junk, Session, Subject, SubjectError, coerce, listed
from harness.subject.inprocess import InProcess, Reference
from harness.subject.load import load_subject

__all__ = [
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
]
