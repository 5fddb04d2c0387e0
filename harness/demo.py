"""`harness demo`: the whole pipeline on real agents, for somebody who sees it the first time."""

import tempfile
from pathlib import Path
from typing import Any

from harness import output as out
from harness.conformance import Report, check, render_terminal
from harness.matrix.build import build
from harness.matrix.render import terminal
from harness.project import Project
from harness.recording import Progress, Recording, RecordError, record
from harness.recording.batch import describe

SURFACES = ("codex-app-server", "claude-sdk")
SCENARIOS = ("text", "command-approved", "interrupt-text")


def demo(project: Project, *, isolate: bool | None, json: bool) -> int:
    """Record, replay and judge, then do the same with the shipped corpus; return the exit code.

    An agent that is not installed is named and left out: the corpus still runs.
    """
    code = out.OK
    result: dict[str, Any] = {"recorded": [], "missing": [], "failed": []}
    with tempfile.TemporaryDirectory(prefix="harness-demo-") as folder:
        into = Path(folder)
        _heading("Recording real agents against a scripted model", json=json)
        for name in SURFACES:
            for scenario in SCENARIOS:
                try:
                    recording = _record(name, scenario, into, isolate=isolate)
                except RecordError as error:
                    kind = "missing" if error.code == out.NOT_STARTED else "failed"
                    result[kind].append(f"{name}: {error}")
                    out.note(f"harness demo: {error}")
                    if kind == "missing":
                        break
                    code = code or error.code
                    continue
                result["recorded"].append(recording.path.relative_to(into).as_posix())
                if not json:
                    out.say(f"  {describe(recording).replace(f'{into}/', '')}")
        reports = []
        if result["recorded"]:
            _heading("Judging what was just recorded, by the laws", json=json)
            reports.append(check(cassettes=into, expected=None))
            _show(reports[-1], json=json)
    if project.cassette_paths():
        _heading("Judging the shipped corpus, by the laws and expected/", json=json)
        reports.append(check(cassettes=project.cassettes, expected=project.expected))
        _show(reports[-1], json=json)
        _heading("What the corpus shows of each provider", json=json)
        matrix = build(project)
        if not json:
            out.say(terminal(matrix))
    else:
        out.note(f"harness demo: {project.cassettes} holds no cassette")
    if json:
        result["verdicts"] = {c.id: c.verdict for report in reports for c in report.cassettes}
        out.say_json(result)
    elif result["missing"]:
        out.say("\nNot installed, so not recorded just now:")
        for what in result["missing"]:
            out.say(f"  {what}")
    if not reports:
        return out.NOTHING_RUN
    return next((r.exit_code for r in reports if r.exit_code), code)


def _record(name: str, scenario: str, into: Path, *, isolate: bool | None) -> Recording:
    show = out.progress()

    def step(event: Progress) -> None:
        show(f"{name}/{scenario}: {event.step}, {event.frames} frames")

    try:
        return record(name, scenario, into, isolate=isolate, on_event=step)
    finally:
        show("")


def _heading(text: str, *, json: bool) -> None:
    if not json:
        out.say(f"\n== {text}")


def _show(report: Report, *, json: bool) -> None:
    if not json:
        out.say(render_terminal(report, colour=out.colour()))
