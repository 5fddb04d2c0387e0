"""`known-failures.toml`: the failures that are known, each with its reason, and no other.

A file is a list of

    [[failure]]
    cassette = "codex-exec/codex-0.163.0/text"
    check = "text"
    reason = "the last delta is lost"
    link = "https://example.org/issues/1"   # may be left out
"""

import difflib
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final, Self

import msgspec
from msgspec import Struct, field

from harness.conformance.report import FAILED, UNUSABLE, CassetteResult, CheckResult, Violation
from harness.regular import read_text

NAME: Final = "known-failures.toml"


class KnownError(Exception):
    """The file cannot be used (`code` 4), or lists what there is not (`code` 1)."""

    def __init__(self, message: str, code: int) -> None:
        self.code = code
        super().__init__(message)


class Failure(Struct, frozen=True, forbid_unknown_fields=True):
    """A failure that is known."""

    cassette: str
    check: str
    reason: str
    link: str = ""


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    failure: list[Failure] = field(default_factory=list)


class Known:
    """The known failures of one file."""

    def __init__(self, path: Path, failures: Iterable[Failure]) -> None:
        self.path = path
        self._of: dict[str, list[Failure]] = {}
        seen: set[tuple[str, str]] = set()
        for number, failure in enumerate(failures, 1):
            at = f"{path}: failure {number}"
            for name in ("cassette", "check", "reason"):
                if not getattr(failure, name).strip():
                    raise KnownError(f"{at}: its {name} is empty; say it", UNUSABLE)
            key = (failure.cassette, failure.check)
            if key in seen:
                raise KnownError(
                    f"{at}: {failure.check} of {failure.cassette} is listed before; list it once",
                    UNUSABLE,
                )
            seen.add(key)
            self._of.setdefault(failure.cassette, []).append(failure)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file. Raises KnownError."""
        try:
            text = read_text(path)
            file = msgspec.convert(tomllib.loads(text), _File)
        except OSError as error:
            raise KnownError(f"{path}: {error.strerror}", UNUSABLE) from error
        except (UnicodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
            hint = "an entry is [[failure]] with cassette, check, reason and, if any, link"
            raise KnownError(f"{path}: {error}; {hint}", UNUSABLE) from error
        return cls(path, file.failure)

    def verify(self, cassettes: Collection[str], checks: Collection[str]) -> None:
        """Refuse an entry whose cassette or check there is not. Raises KnownError."""
        for failures in self._of.values():
            for failure in failures:
                self._there("cassette", failure.cassette, cassettes)
                self._there("check", failure.check, checks)

    def _there(self, what: str, name: str, names: Collection[str]) -> None:
        if name in names:
            return
        near = difflib.get_close_matches(name, list(names), 1)
        listing = "`harness list cassettes`" if what == "cassette" else "`harness list laws`"
        hint = f"did you mean {near[0]}?" if near else f"see {listing}"
        raise KnownError(f"{self.path}: no {what} is called {name!r}; {hint}", FAILED)

    def apply(self, result: CassetteResult) -> None:
        """Excuse what is listed of a cassette; a listed check that passes fails.

        What was not judged is neither.
        """
        excused = False
        for failure in self._of.get(result.id, ()):
            check = next((c for c in result.checks if c.id == failure.check), None)
            if check is None:
                continue
            if check.status == "fail":
                check.status, excused = "known", True
                link = f" ({failure.link})" if failure.link else ""
                check.note = "; ".join(filter(None, [check.note, f"{failure.reason}{link}"]))
            elif check.status == "pass" and result.verdict != "unusable":
                self._passes(result, check, failure)
        if excused and result.verdict == "fail" and not result.failed():
            result.verdict = "unusable" if result.problem else "pass"
            result.fault, result.stderr = "", ""

    def _passes(self, result: CassetteResult, check: CheckResult, failure: Failure) -> None:
        check.status = result.verdict = "fail"
        check.violations.append(
            Violation(
                check.id,
                result.id,
                0,
                "",
                0,
                "",
                "",
                f"a failure, as {self.path.name} lists it: {failure.reason}",
                "it passes",
                "take the entry out of the list",
            )
        )


def find_known(asked: Path | None, folders: Iterable[Path]) -> Known | None:
    """Return what is known: of the file asked for, or the first folder with one; else None.

    Raises KnownError.
    """
    if asked is not None:
        return Known.read(asked)
    for folder in folders:
        # A broken link or a folder of that name is there too, and says what is wrong.
        if (path := folder / NAME).exists() or path.is_symlink():
            return Known.read(path)
    return None
