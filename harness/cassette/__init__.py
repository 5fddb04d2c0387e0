"""The cassette file: read, write, check, scrub. Imports nothing else of the project."""

from harness.cassette.content import classify, restore
from harness.cassette.errors import CassetteError
from harness.cassette.format import (
    FORMAT_VERSION,
    Agent,
    Channel,
    Direction,
    Footer,
    Frame,
    Header,
    Provenance,
)
from harness.cassette.reader import CassetteReader, open_cassette
from harness.cassette.writer import PART_SUFFIX, CassetteWriter

__all__ = [
    "FORMAT_VERSION",
    "PART_SUFFIX",
    "Agent",
    "CassetteError",
    "CassetteReader",
    "CassetteWriter",
    "Channel",
    "Direction",
    "Footer",
    "Frame",
    "Header",
    "Provenance",
    "classify",
    "open_cassette",
    "restore",
]
