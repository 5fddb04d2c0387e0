"""What each command does: it calls its room, which is imported when the command runs."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness import output as out

if TYPE_CHECKING:
    from harness.project import Project
    from harness.recording.models import Choice


def construct(arguments: argparse.Namespace) -> int:
    """Run `harness construct`; return its exit code."""
    from harness.constructed.write import construct_command

    return construct_command(_project(arguments), arguments)


def mutate(arguments: argparse.Namespace) -> int:
    """Run `harness mutate`; return its exit code."""
    from harness.mutation.command import mutate_command

    return mutate_command(_project(arguments), arguments)


def demo(arguments: argparse.Namespace) -> int:
    """Run `harness demo`; return its exit code."""
    from harness.demo import demo

    return demo(_project(arguments, told=True), isolate=arguments.isolate, json=arguments.json)


def _model(arguments: argparse.Namespace) -> "Choice":
    from harness.recording.models import Live, Taped

    if arguments.live:
        return Live(arguments.upstream or "", arguments.key_env or "", arguments.model or "")
    for name in ("upstream", "key_env", "model"):
        if getattr(arguments, name) is not None:
            raise out.UsageError(f"--{name.replace('_', '-')} is a choice of --live")
    if arguments.model_cassette is None:
        return None
    if arguments.model_cassette:
        return Taped(Path(arguments.model_cassette))
    return Taped(corpus=_project(arguments).cassettes)


def record(arguments: argparse.Namespace) -> int:
    """Run `harness record`; return its exit code."""
    from harness.recording.batch import Batch, record_all

    batch = Batch(
        surfaces=arguments.surface,
        scenarios=arguments.scenario,
        all=arguments.all,
        into=arguments.into or _writable(arguments).cassettes,
        agent_path=arguments.agent_path,
        timeout=arguments.timeout,
        port=arguments.port,
        isolate=arguments.isolate,
        json=arguments.json,
        verify=arguments.verify,
        agents=arguments.agent,
        corpus=arguments.into is None,
        model=_model(arguments),
        overwrite=arguments.overwrite,
    )
    if arguments.interactive:
        from harness.interactive.command import record_interactively

        return record_interactively(batch, arguments.draft)
    if arguments.draft is not None:
        raise out.UsageError("--draft is a choice of --interactive")
    return record_all(batch)


def check(arguments: argparse.Namespace) -> int:
    """Run `harness check`; return its exit code."""
    from harness.conformance.command import check_command
    from harness.conformance.reports.live import reporting

    with reporting(arguments) as live:
        project = _project(arguments, told=True)
        return check_command(project, _selected(arguments), arguments, live)


def report(arguments: argparse.Namespace) -> int:
    """Run `harness report`; return its exit code."""
    from harness.conformance.reports.command import report_command

    return report_command(arguments.file, arguments.formats)


def accept(arguments: argparse.Namespace) -> int:
    """Run `harness accept`; return its exit code."""
    from harness.conformance.command import accept_command

    return accept_command(_writable(arguments), _selected(arguments), arguments)


def review(arguments: argparse.Namespace) -> int:
    """Run `harness review`; return its exit code."""
    from harness.review.command import review_command

    return review_command(_project(arguments), arguments)


def replay(arguments: argparse.Namespace) -> int:
    """Run `harness replay`; return its exit code."""
    from harness.conformance.command import replay_command

    return replay_command(_project(arguments).find(arguments.cassette), arguments)


def show(arguments: argparse.Namespace) -> int:
    """Run `harness show`; return its exit code."""
    import shutil

    from harness.cassette import open_cassette
    from harness.cassette.show import timeline

    width = arguments.width
    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    with open_cassette(_project(arguments).find(arguments.cassette)) as cassette:
        for line in timeline(cassette, width):
            out.say(line)
    return out.OK


def play(arguments: argparse.Namespace) -> int:
    """Run `harness play`; return its exit code."""
    from harness.playback.command import Choices, play_command

    choices = Choices(
        args=arguments.agent_args,
        pace=arguments.pace,
        port=arguments.port,
        shim=arguments.shim,
        state=arguments.state,
    )
    path = Path(arguments.cassette)
    # A shim names a file and runs anywhere: only an id needs a project.
    return play_command(
        path if path.is_file() else _project(arguments).find(arguments.cassette), choices
    )


def matrix(arguments: argparse.Namespace) -> int:
    """Run `harness matrix`; return its exit code."""
    if arguments.schema:
        from harness.matrix.model import matrix_schema

        out.say_json(matrix_schema())
        return out.OK
    from harness.matrix.command import matrix_command

    return matrix_command(_writable(arguments), check=arguments.check, json=arguments.json)


def vocabulary(arguments: argparse.Namespace) -> int:
    """Run `harness vocabulary`; return its exit code."""
    from harness.recording.vocabulary import vocabulary_command

    return vocabulary_command(arguments.surface, write_them=arguments.write, json=arguments.json)


def listing(arguments: argparse.Namespace) -> int:
    """Run `harness list`; return its exit code."""
    from harness.listing import list_command

    project = _project(arguments) if arguments.what == "cassettes" else None
    return list_command(arguments.what, project, json=arguments.json)


def install_agents(arguments: argparse.Namespace) -> int:
    """Run `harness agents install`; return its exit code."""
    from harness.agents.command import install_command

    return install_command(arguments.names, json=arguments.json)


def doctor(arguments: argparse.Namespace) -> int:
    """Run `harness doctor`; return its exit code."""
    from harness.listing import doctor_command

    return doctor_command(json=arguments.json)


def copy(arguments: argparse.Namespace) -> int:
    """Run `harness copy`; return its exit code."""
    from harness.copying import copy_command
    from harness.project import project_at, shipped

    project = shipped() if arguments.root is None else project_at(arguments.root)
    return copy_command(project, arguments.folder, json=arguments.json)


def new_normalizer(arguments: argparse.Namespace) -> int:
    """Run `harness new normalizer`; return its exit code."""
    from harness.start.new import new_command

    return new_command(arguments.folder, arguments.language, arguments.surface, json=arguments.json)


def new_scenario(arguments: argparse.Namespace) -> int:
    """Run `harness new scenario`; return its exit code."""
    from harness.start.scenario import scenario_command

    return scenario_command(arguments.name, arguments.source, json=arguments.json)


def new_surface(arguments: argparse.Namespace) -> int:
    """Run `harness new surface`; return its exit code."""
    from harness.start.surface import surface_command

    return surface_command(arguments.name, arguments.provider, json=arguments.json)


def schema(arguments: argparse.Namespace) -> int:
    """Run `harness schema`; return its exit code."""
    staged, other = arguments.stage != "normalized_out", arguments.protocol or arguments.report
    if staged and other:
        raise out.UsageError("--stage is of events: leave --protocol and --report out")
    if arguments.language == "ts":
        if staged or other:
            raise out.UsageError("--language ts is for the canonical events alone")
        from harness.canonical.typescript import typescript

        sys.stdout.write(typescript())
        return out.OK
    if arguments.protocol:
        from harness.subject.protocol import protocol_schema

        out.say_json(protocol_schema())
        return out.OK
    if arguments.report:
        from harness.conformance.reports.stream import report_schema

        out.say_json(report_schema())
        return out.OK
    from harness.projection.schema import stage_schema

    out.say_json(stage_schema(arguments.stage))
    return out.OK


def _project(arguments: argparse.Namespace, *, told: bool = False) -> "Project":
    from harness.project import find_project, project_at

    project = find_project() if arguments.root is None else project_at(arguments.root)
    if told and project.packaged:
        out.note(
            f"harness {arguments.command}: on the corpus that came with the package, "
            f"{project.root}; `harness copy DIR` writes it out"
        )
    return project


def _writable(arguments: argparse.Namespace) -> "Project":
    doing = f"writing what `harness {arguments.command}` gives"
    return _project(arguments).writable(doing)


def _selected(arguments: argparse.Namespace) -> list[Path]:
    from harness.project import select

    return select(_project(arguments), arguments.cassettes, arguments.surface, arguments.scenario)
