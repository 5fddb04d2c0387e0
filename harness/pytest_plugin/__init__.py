"""The harness in pytest: a test for each cassette and check, and fixtures for tests of one's own.

`pytest --normalizer package.module:name` collects `<surface>/<agent>/<scenario>::<check>`, from
the project's corpus or from `--cassettes DIR`. Such an id is an argument too, whole or in part.
This module is imported whenever pytest starts: the rest is, where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from harness.cassette import CassetteReader
    from harness.conformance import CassetteResult
    from harness.pytest_plugin.run import Normalizer, Replayed, Run

_LEVELS = ("schema", "laws", "expected", "coverage")
_MARKERS = (
    "surface(id): of cassettes of this surface",
    "scenario(id): of cassettes of this scenario",
    "law(id): this check of a cassette",
)
_RUN = pytest.StashKey["Run"]()
_PROBLEM = "harness_problem"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("harness", "conformance of a normalizer")
    group.addoption(
        "--normalizer",
        metavar="SPEC",
        help="collect a test for each cassette and check of this normalizer: MODULE:NAME, or a "
        "command that speaks the protocol",
    )
    group.addoption(
        "--cassettes",
        metavar="DIR",
        help="the cassettes (default: the project's, else those that came with the package); "
        "alone, the normalizer is that of harness.toml, else the reference normalizers",
    )
    group.addoption(
        "--expected",
        metavar="DIR",
        help="their expected output (default: expected/ beside cassettes/)",
    )
    group.addoption("--surface", metavar="S", help="cassettes of this surface alone")
    group.addoption("--scenario", metavar="ID", help="cassettes of this scenario alone")
    group.addoption(
        "--level",
        action="append",
        choices=_LEVELS,
        help="hold it to this level alone; may be given again (default: what it claims, or all)",
    )
    group.addoption(
        "--documents",
        action="store_true",
        default=None,
        help="judge another normalizer too on the conversations that were written by hand",
    )
    group.addoption(
        "--known-failures",
        metavar="FILE",
        help="failures that are excused, each as an xfail that has to fail (default: "
        "known-failures.toml here or beside cassettes/, if any)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers; where it is asked for, find the cassettes. Raises UsageError."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    option = config.option
    if option.normalizer is None and option.cassettes is None:
        for name in ("expected", "surface", "scenario", "level", "documents", "known-failures"):
            if getattr(option, name.replace("-", "_")) is not None:
                raise pytest.UsageError(f"--{name} needs --normalizer or --cassettes beside it")
        return
    from harness.pytest_plugin.run import Run  # noqa: PLC0415 - see above

    run = config.stash[_RUN] = Run.asked(config)
    config.args = run.take(config.args, config.invocation_params.dir)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Load the normalizer, or start it. Raises UsageError."""
    config = session.config
    run = config.stash.get(_RUN, None)
    if run is None:
        return
    config.add_cleanup(run.end)
    run.start()
    if config.pluginmanager.hasplugin("dsession"):
        # The workers have theirs: here it was only tried.
        run.problem()
        run.end()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is judged, and on what."""
    run = config.stash.get(_RUN, None)
    return None if run is None else run.header


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add the cassettes to what the session collects."""
    report = yield
    if isinstance(collector, pytest.Session) and report.passed:
        run = collector.config.stash.get(_RUN, None)
        if run is not None:
            from harness.pytest_plugin.nodes import collected  # noqa: PLC0415 - see above

            report.result.extend(collected(collector, run))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the surfaces that the normalizer does not claim, and count them."""
    run = config.stash.get(_RUN, None)
    if run is None:
        return
    from harness.pytest_plugin.nodes import CheckItem  # noqa: PLC0415 - see above

    left = [i for i in items if isinstance(i, CheckItem) and not i.wanted]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [i for i in items if not isinstance(i, CheckItem) or i.wanted]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End the normalizer as the protocol has it; the run fails where it does not end so.

    A run that is interrupted waits for nothing: it is ended at once.
    """
    config = session.config
    run = config.stash.get(_RUN, None)
    if run is None:
        return
    problem = "" if exitstatus == pytest.ExitCode.INTERRUPTED else run.problem()
    run.end()
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_PROBLEM] = problem
    elif problem or run.problems:
        run.problems += [problem] if problem else []
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker of xdist says of how its normalizer ended."""
    run = node.config.stash.get(_RUN, None)
    problem = getattr(node, "workeroutput", {}).get(_PROBLEM)
    if run is not None and problem:
        run.problems.append(problem)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was wrong with how the normalizer ended."""
    run = config.stash.get(_RUN, None)
    for problem in sorted(set(run.problems)) if run is not None else []:
        terminalreporter.write_line(f"harness: {problem}", red=True)


@pytest.fixture(scope="session")
def harness_run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """What the other fixtures work on: the options' normalizer and corpus, or the defaults."""
    asked = request.config.stash.get(_RUN, None)
    if asked is not None:
        yield asked
        return
    from harness.pytest_plugin.run import Run  # noqa: PLC0415 - see above

    run = Run.asked(request.config)
    try:
        yield run
    finally:
        run.end()


@pytest.fixture
def load_cassette(harness_run: Run) -> Iterator[Callable[[str], CassetteReader]]:
    """Give a function that opens a cassette by path or id: `header`, and frames by iterating."""
    from contextlib import ExitStack  # noqa: PLC0415 - see above

    with ExitStack() as stack:
        yield lambda name: stack.enter_context(harness_run.open(name))


@pytest.fixture
def replay_cassette(harness_run: Run) -> Callable[..., list[Replayed]]:
    """Give a function that replays a cassette: `(name, normalizer=None)` to canonical events.

    `normalizer` is a spec as of `--normalizer`, or what takes a header and gives a normalizer;
    without it, it is the option's. What is no event is a `Junk`; what the normalizer raises is
    raised.
    """

    def replay(name: str, normalizer: Normalizer | None = None) -> list[Replayed]:
        return harness_run.replay(name, normalizer)

    return replay


@pytest.fixture
def judge_cassette(harness_run: Run) -> Callable[..., CassetteResult]:
    """Give a function that judges a cassette, `(name, normalizer=None)`, as `harness check` does.

    The option's normalizer is judged once on each cassette; its known failures are `known`.
    """

    def judge(name: str, normalizer: Normalizer | None = None) -> CassetteResult:
        return harness_run.judge(name, normalizer)

    return judge


@pytest.fixture
def expected(request: pytest.FixtureRequest, harness_run: Run) -> SnapshotAssertion:
    """Compare canonical lines with the expected file of the cassette `name` (needs syrupy)."""
    from harness.pytest_plugin.expected_file import expected_files  # noqa: PLC0415 - see above

    snapshot: SnapshotAssertion = request.getfixturevalue("snapshot")
    return snapshot.use_extension(expected_files(harness_run.project))
