"""`harness demo`: the whole pipeline on real agents, for somebody who sees it the first time."""

import tempfile
from pathlib import Path
from typing import Any

from harness import output as out
from harness.conformance import Report, check, render_terminal
from harness.matrix.build import build
from harness.matrix.render import terminal
from harness.project import Project
from harness.recording import Progress, RecordError, Recording, record
from harness.recording.batch import describe
from harness.recording.terminable import unwinding

SURFACES = ("codex-app-server", "claude-sdk")
SCENARIOS = ("text", "command-approved", "interrupt-text")


class _Demo:
    """One run of the demo: what it says, and what it found."""

    def __init__(self, project: Project, *, isolate: bool | None, json: bool) -> None:
        self.project = project
        self.isolate = isolate
        self.json = json
        self.recorded: list[str] = []
        self.missing: list[str] = []
        self.failed: list[str] = []
        self.codes: list[int] = []
        self.reports: list[Report] = []

    def record(self, into: Path) -> None:
        """Record each scenario on each surface whose agent is installed."""
        self.heading("Recording real agents against a scripted model")
        for name in SURFACES:
            for scenario in SCENARIOS:
                try:
                    recording = _record(name, scenario, into, isolate=self.isolate)
                except RecordError as error:
                    out.note(f"harness demo: {error}")
                    if error.missing:
                        self.missing.append(f"{name}: {error}")
                        break
                    self.failed.append(f"{name}/{scenario}: {error}")
                    self.codes.append(error.code)
                else:
                    self.recorded.append(recording.path.relative_to(into).as_posix())
                    self.say(f"  {describe(recording).replace(f'{into}/', '')}")

    def judge(self, heading: str, cassettes: Path, expected: Path | None) -> None:
        """Judge the reference normalizers on the cassettes of a folder."""
        self.heading(heading)
        report = check(cassettes=cassettes, expected=expected)
        self.reports.append(report)
        self.codes.append(report.exit_code)
        self.say(render_terminal(report, colour=out.colour()))

    def result(self) -> dict[str, Any]:
        """Return what was found, for `--json`."""
        return {
            "recorded": self.recorded,
            "missing": self.missing,
            "failed": self.failed,
            "verdicts": {c.id: c.verdict for report in self.reports for c in report.cassettes},
        }

    def heading(self, text: str) -> None:
        """Say what comes next."""
        self.say(f"\n== {text}")

    def say(self, text: str) -> None:
        """Say a line of the result, unless the result is JSON."""
        if not self.json:
            out.say(text)


def demo(project: Project, *, isolate: bool | None, json: bool) -> int:
    """Record, replay and judge, then do the same with the shipped corpus; return the exit code.

    An agent that is not installed is named and left out: the corpus still runs.
    """
    run = _Demo(project, isolate=isolate, json=json)
    with unwinding(), tempfile.TemporaryDirectory(prefix="harness-demo-") as folder:
        run.record(Path(folder))
        if run.recorded:
            run.judge("Judging what was just recorded, by the laws", Path(folder), None)
    if project.cassette_paths():
        run.judge(
            "Judging the shipped corpus, by the laws and expected/",
            project.cassettes,
            project.expected,
        )
        run.heading("What the corpus shows of each provider")
        run.say(terminal(build(project)))
    else:
        out.note(f"harness demo: {project.cassettes} holds no cassette")
    if json:
        out.say_json(run.result())
    elif run.missing:
        run.heading("Not installed, so not recorded just now")
        for what in run.missing:
            run.say(f"  {what}")
    if not run.reports:
        return out.NOTHING_RUN
    return next((code for code in run.codes if code), out.OK)


def _record(name: str, scenario: str, into: Path, *, isolate: bool | None) -> Recording:
    show = out.progress()

    def step(event: Progress) -> None:
        show(f"{name}/{scenario}: {event.step}, {event.frames} frames")

    try:
        return record(name, scenario, into, isolate=isolate, on_event=step)
    finally:
        show("")
