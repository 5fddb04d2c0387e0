"""What pytest collects: a collector for each cassette, an item for each of its checks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.conformance.corpus import Target
from harness.conformance.render import check_text, trouble_text
from harness.conformance.report import CassetteResult
from harness.pytest_plugin.run import ORPHAN, Run


class ReportError(Exception):
    """A part of a report, shown as it is."""


def collected(session: pytest.Session, run: Run) -> Iterator[pytest.Collector]:
    """Make the collectors of a run, in the order of their ids."""
    for target in run.targets:
        if run.named(target.id, "") or any(run.named(target.id, c) for c in run.checks()):
            yield CassetteCollector.of(session, run, target, None)
    for orphan in run.orphans:
        if run.named(orphan.id, ORPHAN):
            target = Target(orphan.id, Path(orphan.path), shipped=True)
            yield CassetteCollector.of(session, run, target, orphan)


class CassetteCollector(pytest.Collector):
    """A cassette. Its node id is its own."""

    run: Run
    target: Target
    orphan: CassetteResult | None

    @classmethod
    def of(
        cls, session: pytest.Session, run: Run, target: Target, orphan: CassetteResult | None
    ) -> "CassetteCollector":
        """Make one, with the markers and keywords of its surface and scenario."""
        node: CassetteCollector = cls.from_parent(
            session, name=target.id, nodeid=target.id, path=target.path.absolute()
        )
        node.run, node.target, node.orphan = run, target, orphan
        surface, agent, scenario = target.parts
        node.add_marker(pytest.mark.surface(id=surface))
        node.add_marker(pytest.mark.scenario(id=scenario))
        node.extra_keyword_matches |= {surface, agent, scenario}
        return node

    def collect(self) -> Iterator[pytest.Item]:
        """Make an item for each check that is asked for."""
        checks = self.run.checks() if self.orphan is None else [ORPHAN]
        for check in checks:
            if self.run.named(self.target.id, check):
                item: CheckItem = CheckItem.from_parent(self, name=check)
                item.add_marker(pytest.mark.law(id=check))
                yield item


class CheckItem(pytest.Item):
    """One check of one cassette."""

    @property
    def cassette(self) -> CassetteCollector:
        """The cassette that it is of."""
        assert isinstance(self.parent, CassetteCollector)  # noqa: S101 - it is made there
        return self.parent

    @property
    def wanted(self) -> bool:
        """Whether the normalizer claims the cassette's surface."""
        return self.cassette.run.claimed(self.cassette.target)

    def judged(self) -> CassetteResult:
        """Return the result of the cassette, which is judged when it is first asked for."""
        cassette = self.cassette
        return cassette.orphan or cassette.run.judged(cassette.target)

    def setup(self) -> None:
        """Judge the cassette. Fails, as an error, where this check cannot be judged for it."""
        result = self.judged()
        if result.verdict == "not-claimed":
            pytest.skip(f"the normalizer does not claim {result.surface}")
        status = next((c.status for c in result.checks if c.id == self.name), None)
        if status is None or (result.verdict == "unusable" and status not in {"fail", "known"}):
            pytest.fail(trouble_text(result), pytrace=False)

    def runtest(self) -> None:
        """Say how the check came out. Raises ReportError where it failed."""
        result = self.judged()
        check = result.check(self.name)
        if check.status == "fail":
            raise ReportError(check_text(result, check))
        if check.status == "not-judged":
            pytest.skip(f"not judged: {check.note}")
        if check.status == "known":
            pytest.xfail(check.note)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report's own words, and a trace for what is none of them."""
        if isinstance(excinfo.value, ReportError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where it is from, and how it is called."""
        return self.path, None, self.name
