"""syrupy on `expected/`: one file for each cassette, named by the cassette's id.

syrupy reads, compares and reports. What it would do beyond that is taken from it: it finds no
unused files (a check for orphans looks both ways, and is not misled by a run of a few tests),
deletes nothing, and writes only by `write_expected`, which refuses a truncated cassette and output
that breaks a law.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from harness.conformance import explain, write_expected
from harness.project import Project


class ExpectedFile(SingleFileSnapshotExtension):
    """`expected/<surface>/<agent>/<scenario>.jsonl`, as bytes; `snapshot(name=cassette_id)`."""

    _write_mode = WriteMode.BINARY
    file_extension = "jsonl"
    project: ClassVar[Project]

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        return str(index)

    @classmethod
    def get_file_basename(cls, *, test_location: Any, index: Any) -> str:
        return str(index)

    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(cls.project.expected)

    @classmethod
    def get_location(cls, *, test_location: Any, index: Any) -> str:
        return str(cls.project.expected / f"{index}.jsonl")

    @classmethod
    def matches_test_location(cls, *, test_location: Any, snapshot_location: str) -> bool:
        return snapshot_location.startswith(str(cls.project.expected))

    def discover_snapshots(self, **_: Any) -> SnapshotCollections:
        return SnapshotCollections()

    def delete_snapshots(self, *, snapshot_location: str, snapshot_names: set[str]) -> None:
        raise PermissionError(f"{snapshot_location}: expected files are removed by hand")

    @classmethod
    def write_snapshot(cls, *, snapshot_location: str, **_: Any) -> None:
        cls.project.writable(f"pinning {snapshot_location}")
        path = Path(snapshot_location).relative_to(cls.project.expected)
        write_expected(
            path.with_suffix("").as_posix(),
            cassettes=cls.project.cassettes,
            expected=cls.project.expected,
        )

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        due = _lines(snapshot_data)
        for found in explain(due, _lines(serialized_data), 1):
            frame, kind, event, type_ = found.where
            yield f"frame {frame} ({kind}), event {event} {type_} {found.path}".rstrip()
            yield f"  expected  {found.expected}"
            yield f"  got       {found.got}"


def expected_files(project: Project) -> type[ExpectedFile]:
    """Return the extension for the expected files of a project."""
    return type("ExpectedFile", (ExpectedFile,), {"project": project})


def _lines(data: Any) -> list[bytes]:
    return data.splitlines() if isinstance(data, bytes) else []
