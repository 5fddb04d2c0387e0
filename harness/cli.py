"""The commands, no logic of their own. Each imports its room when it runs: `--help` is quick."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from harness import __version__
from harness import output as out

if TYPE_CHECKING:
    from harness.project import Project
    from harness.recording.models import Choice

Handler = Callable[[argparse.Namespace], int]

_EPILOG = """\
exit codes: 0 all that was asked holds; 1 something does not conform; 2 usage; 3 nothing was
run; 4 a cassette or an expected file is unusable; 5 an agent or a normalizer could not be
started; 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code. No error that a user can cause is a traceback."""
    # Closed by the caller: what is said goes nowhere, and the exit code is what counts.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - for the whole process
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115 - the same
    own, agents = _split(sys.argv[1:] if argv is None else argv)
    arguments = _parser().parse_args(own)
    arguments.agent_args = agents
    run: Handler = arguments.run
    try:
        code = run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        out.note("harness: interrupted")
        return out.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does: that is no error of ours.
        sys.stderr.close()
        return out.OK
    except Exception as error:
        failed = out.exit_code(error)
        if failed is None:
            raise
        out.note(f"harness {arguments.command}: {out.text_of(error)}")
        return failed
    return code


def _split(argv: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Part the agent's arguments from ours: of `play`, all after the first `--`, as they are."""
    own = list(argv)
    if "play" not in own or "--" not in own[own.index("play") :]:
        return own, None
    cut = own.index("--", own.index("play"))
    return own[:cut], own[cut + 1 :]


def entry() -> NoReturn:
    """Run as the `harness` program."""
    sys.exit(main())


def _parser() -> argparse.ArgumentParser:  # noqa: PLR0915 - each command, once
    parser = argparse.ArgumentParser(
        prog="harness",
        description="Records what coding agents really send, and judges the normalizers "
        "that read it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"harness {__version__}")
    parser.add_argument(
        "--root",
        type=_folder,
        metavar="DIR",
        help="the folder that holds cassettes/, expected/ and matrix/ (default: the nearest one "
        "above the working folder)",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(
        name: str, run: Handler, text: str, *, json: bool = True
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        added.set_defaults(run=run)
        if json:
            added.add_argument("--json", action="store_true", help="print the result as JSON")
        return added

    demo = command("demo", _demo, "record real agents, replay them and the corpus, show the matrix")
    _isolation(demo)

    record = command("record", _record, "record a scenario from a real agent into a cassette")
    record.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="of a surface with several (default: all that are found); may be given again",
    )
    record.add_argument(
        "--surface", action="append", default=[], metavar="S", help="may be given again"
    )
    record.add_argument(
        "--scenario", action="append", default=[], metavar="ID", help="may be given again"
    )
    record.add_argument("--all", action="store_true", help="every scenario of the surfaces named")
    record.add_argument(
        "--verify", action="store_true", help="record each twice, and show any difference"
    )
    record.add_argument("--into", type=_folder, metavar="DIR", help="instead of cassettes/")
    record.add_argument(
        "--overwrite",
        action="store_true",
        help="put what changed in the old cassette's place (default: it waits beside it as .new "
        "for `harness review`)",
    )
    record.add_argument("--agent-path", metavar="PROGRAM", help="the agent's program")
    record.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="for each recording (default: what the manifest says of the agent, else 60)",
    )
    record.add_argument(
        "--port",
        type=int,
        default=0,
        help="of the model server (default: a free one; with isolation, in the namespace)",
    )
    _isolation(record)
    _real_model(record)

    check = command("check", _check, "judge a normalizer on cassettes by the laws and expected/")
    _selection(check)
    _normalizer(check)
    check.add_argument(
        "--level",
        action="append",
        choices=["schema", "laws", "expected", "coverage"],
        help="hold it to this level alone; may be given again (default: what it claims, or all)",
    )
    check.add_argument(
        "--pending",
        action="store_true",
        help="leave what differs from expected/ beside it, as .new for `harness review` (of the "
        "reference normalizers; nothing in CI)",
    )
    check.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT[=PATH]",
        help="write a report too, `-` is standard output: jsonl, junit, github (annotations; "
        "default -), summary (markdown; default $GITHUB_STEP_SUMMARY), badge (JSON, or SVG where "
        "PATH ends so); may be given again",
    )
    check.add_argument(
        "--known-failures",
        type=Path,
        metavar="FILE",
        help="failures that are excused (default: known-failures.toml here or in the root, if any)",
    )

    report = command(
        "report", _report, "print a report that `check --report jsonl=FILE` kept", json=False
    )
    report.usage = "harness report [FORMAT[=PATH] ...] FILE"
    report.epilog = (
        "FORMAT is as of `check --report`; none of them is the terminal's. It ends with the exit "
        "code of the run that is reported, and with 4 where the report is truncated."
    )
    report.add_argument("formats", nargs="*", metavar="FORMAT[=PATH]")
    report.add_argument("file", metavar="FILE", help="`-` is standard input")

    accept = command(
        "accept", _accept, "write expected/ from what the reference normalizers give now"
    )
    _selection(accept)

    review = command(
        "review", _review, "show what waits as .new beside the old files, and accept or reject it"
    )
    review.epilog = (
        "At a terminal each file is shown with what changed, and taken by one key: a accepts, r "
        "rejects, s skips, q quits, space shows more. In CI (CI=true) and without a terminal "
        "nothing is done but by --accept and --reject. Exit code 1 where something still waits."
    )
    review.add_argument("names", nargs="*", metavar="NAME", help="a path, a folder or an id")
    review.add_argument("--surface", metavar="S")
    review.add_argument("--scenario", metavar="ID")
    how = review.add_mutually_exclusive_group()
    how.add_argument("--list", action="store_true", help="what waits, and change nothing")
    how.add_argument("--accept", action="store_true", help="put all of it in the old files' place")
    how.add_argument("--reject", action="store_true", help="remove all of it")

    replay = command(
        "replay", _replay, "print the canonical events of a cassette, or another stage", json=False
    )
    replay.add_argument("cassette", metavar="CASSETTE")
    _stage(replay, "native_in", "normalized_out", "chat_event", "legacy_out")
    replay.add_argument("--json", action="store_true", help="as without it: JSON lines")
    _normalizer(replay)

    show = command("show", _show, "print a cassette as a timeline of both directions", json=False)
    show.add_argument("cassette", metavar="CASSETTE")
    show.add_argument(
        "--width", type=_width, metavar="COLUMNS", help="0 cuts nothing (default: the terminal's)"
    )

    play = command("play", _play, "be a cassette's agent: say what was recorded", json=False)
    _playing(play)

    matrix = command("matrix", _matrix, "write matrix/ from what the cassettes show")
    matrix.add_argument(
        "--check", action="store_true", help="fail when matrix/ is stale, write nothing"
    )
    matrix.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of matrix/matrix.json alone"
    )

    _constructing(
        command(
            "construct",
            _construct,
            "write cassettes of the conversations that were written by hand",
        )
    )
    _mutating(
        command(
            "mutate", _mutate, "put faults into the reference normalizers, and see which are caught"
        )
    )

    vocabulary = command(
        "vocabulary", _vocabulary, "compare the pinned native kinds with the installed agents'"
    )
    vocabulary.add_argument("--surface", action="append", default=[], metavar="S")
    vocabulary.add_argument(
        "--write", action="store_true", help="add what is new to vocabulary.yaml, not mapped yet"
    )

    listing = command("list", _list, "list surfaces, scenarios, cassettes, agents or laws")
    listing.add_argument("what", choices=["surfaces", "scenarios", "cassettes", "agents", "laws"])

    copy = command("copy", _copy, "write the corpus that came with the package into a folder")
    copy.add_argument("folder", type=_folder, metavar="DIR", help="a new or an empty folder")

    _agents(commands)
    _new(commands)
    command("doctor", _doctor, "say which agents are found, and how to get the others")
    schema = command("schema", _schema, "print the JSON Schema of the canonical events", json=False)
    _stage(schema, "normalized_out", "chat_event", "legacy_out")
    schema.add_argument(
        "--language",
        choices=["json", "ts"],
        default="json",
        help="ts: the canonical events as TypeScript, with a strict decoder (default: json)",
    )
    schema.add_argument(
        "--protocol", action="store_true", help="of the messages to a normalizer behind a command"
    )
    schema.add_argument("--report", action="store_true", help="of a line of a report instead")
    return parser


def _agents(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    agents = commands.add_parser(
        "agents", help="list the agents, or install one from npm", description="The agents."
    )
    of_agents = agents.add_subparsers(dest="action", required=True, metavar="ACTION")
    known = of_agents.add_parser("list", help="say which are found, and how to get the others")
    known.set_defaults(run=_list, what="agents")
    install = of_agents.add_parser(
        "install", help="put a pinned agent from npm into the user's cache folder"
    )
    install.add_argument("names", nargs="+", metavar="NAME")
    install.set_defaults(run=_install)
    for added in (known, install):
        added.add_argument("--json", action="store_true", help="print the result as JSON")


def _new(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    new = commands.add_parser(
        "new",
        help="write the start of a normalizer of your own",
        description="Write the start of something of your own.",
    )
    kinds = new.add_subparsers(dest="kind", required=True, metavar="KIND")
    normalizer = kinds.add_parser(
        "normalizer", help="a folder with a normalizer that runs and is judged as it is"
    )
    normalizer.set_defaults(run=_new_normalizer)
    normalizer.add_argument("folder", type=_folder, metavar="DIR", help="a new or an empty folder")
    normalizer.add_argument("--language", choices=["ts", "python"], required=True)
    normalizer.add_argument(
        "--surface", default="codex-exec", metavar="S", help="(default: codex-exec)"
    )
    normalizer.add_argument("--json", action="store_true", help="print the result as JSON")


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a folder is needed, not an empty text")
    return Path(text)


def _width(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: a number of columns is needed, or 0")
    return int(text)


def _isolation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--isolate",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="in a network namespace with loopback alone (default: where the machine allows it)",
    )


def _real_model(record: argparse.ArgumentParser) -> None:
    real = record.add_argument_group(
        "a real model",
        "by default the model is the scenario's script; see docs/LIVE.md",
    )
    which = real.add_mutually_exclusive_group()
    which.add_argument(
        "--live",
        action="store_true",
        help="ask the provider of the agent's model, and keep its answers beside the cassette, as "
        "SCENARIO.model.yaml; the key is taken from OPENAI_API_KEY, ANTHROPIC_API_KEY or "
        "GEMINI_API_KEY and is in no file",
    )
    which.add_argument(
        "--model-cassette",
        nargs="?",
        const="",
        metavar="FILE",
        help="play such answers: no key, no network (default FILE: the one in cassettes/)",
    )
    real.add_argument(
        "--upstream",
        metavar="URL",
        help="with --live: the provider's base address (default: $HARNESS_UPSTREAM, else the "
        "API's own provider)",
    )
    real.add_argument(
        "--key-env", metavar="NAME", help="with --live: the variable that holds the key"
    )
    real.add_argument(
        "--model", metavar="NAME", help="with --live: instead of the model that the agent names"
    )


def _stage(parser: argparse.ArgumentParser, *stages: str) -> None:
    # As in harness/projection/stages.py, which a test holds against these.
    parser.add_argument(
        "--stage",
        choices=stages,
        default="normalized_out",
        help="frames with their native kinds (native_in), canonical events (normalized_out, the "
        "default), chat events (chat_event), events of the older model (legacy_out)",
    )


def _playing(play: argparse.ArgumentParser) -> None:
    play.usage = (
        "harness play CASSETTE [--pace] [--port N] [--state FILE] [--shim DIR] [-- ARGUMENT...]"
    )
    play.epilog = (
        "Without --shim it is the agent, on standard input and output; ARGUMENTs are the agent's, "
        "and say which of the cassette's processes it is. It ends as the agent ended, and with 1 "
        "where the client does not do what was recorded."
    )
    play.add_argument("cassette", metavar="CASSETTE")
    play.add_argument("--pace", action="store_true", help="keep the recorded timing")
    play.add_argument(
        "--port", type=int, default=0, help="of an agent that listens (default: a free one)"
    )
    play.add_argument(
        "--state",
        type=Path,
        metavar="FILE",
        help="counts the starts, where a cassette has several processes of one command line "
        "(a shim has one beside it)",
    )
    play.add_argument(
        "--shim",
        type=_folder,
        metavar="DIR",
        help="write into DIR a program of the agent's name that is the agent, to stand in PATH "
        "or to be named where a client asks for the agent's program",
    )


def _selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cassettes", nargs="*", metavar="CASSETTE", help="a path or an id")
    parser.add_argument("--surface", metavar="S")
    parser.add_argument("--scenario", metavar="ID")


def _normalizer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--normalizer",
        metavar="SPEC",
        help="the normalizer under test: MODULE:NAME, run in this process, which it can end as "
        "well (a pass is 0 and a whole report), or a command that speaks the protocol on standard "
        "input and output, such as 'node dist/normalizer.js' (default: the reference normalizer "
        "of each surface)",
    )
    parser.add_argument(
        "--time-limit",
        type=_seconds,
        metavar="SECONDS",
        help="for each answer of a normalizer behind a command (default: 10)",
    )
    parser.add_argument(
        "--memory-limit",
        type=_megabytes,
        metavar="MB",
        help="for all processes of a normalizer behind a command, 0 for none (default: 2048)",
    )


def _seconds(text: str) -> float:
    from harness.subject.choice import seconds

    return seconds(text)


def _megabytes(text: str) -> int:
    from harness.subject.choice import megabytes

    return megabytes(text)


def _constructing(construct: argparse.ArgumentParser) -> None:
    construct.add_argument("--surface", metavar="S")
    construct.add_argument("--into", type=_folder, metavar="DIR", help="instead of cassettes/")


def _mutating(mutate: argparse.ArgumentParser) -> None:
    mutate.add_argument("--surface", metavar="S", help="its normalizer's modules, on its cassettes")
    mutate.add_argument(
        "--file", action="append", metavar="FILE", help="a module, such as ledger.py; may be again"
    )
    mutate.add_argument("--sample", type=_count, metavar="N", help="so many, chosen by --seed")
    mutate.add_argument("--seed", type=int, default=1)
    mutate.add_argument("--workers", type=_count, default=2, metavar="N")
    mutate.add_argument(
        "--again", action="store_true", help="also those that were caught by what has not changed"
    )
    mutate.add_argument(
        "--least", type=float, default=95.0, metavar="PERCENT", help="the score that holds"
    )
    mutate.add_argument(
        "--equivalents",
        type=Path,
        metavar="FILE",
        default=Path(__file__).parent / "mutation" / "equivalents.toml",
        help="mutants that no run can tell from the original, with their reasons",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}: a number from 1 is needed")
    return int(text)


def _construct(arguments: argparse.Namespace) -> int:
    from harness.constructed.write import construct_command

    return construct_command(_project(arguments), arguments)


def _mutate(arguments: argparse.Namespace) -> int:
    from harness.mutation.command import mutate_command

    return mutate_command(_project(arguments), arguments)


def _demo(arguments: argparse.Namespace) -> int:
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


def _record(arguments: argparse.Namespace) -> int:
    from harness.recording.batch import Batch, record_all

    return record_all(
        Batch(
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
    )


def _check(arguments: argparse.Namespace) -> int:
    from harness.conformance.command import check_command
    from harness.conformance.reports.live import reporting

    with reporting(arguments) as live:
        project = _project(arguments, told=True)
        return check_command(project, _selected(arguments), arguments, live)


def _report(arguments: argparse.Namespace) -> int:
    from harness.conformance.reports.command import report_command

    return report_command(arguments.file, arguments.formats)


def _accept(arguments: argparse.Namespace) -> int:
    from harness.conformance.command import accept_command

    return accept_command(_writable(arguments), _selected(arguments), arguments)


def _review(arguments: argparse.Namespace) -> int:
    from harness.review.command import review_command

    return review_command(_project(arguments), arguments)


def _replay(arguments: argparse.Namespace) -> int:
    from harness.conformance.command import replay_command

    return replay_command(_project(arguments).find(arguments.cassette), arguments)


def _show(arguments: argparse.Namespace) -> int:
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


def _play(arguments: argparse.Namespace) -> int:
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


def _matrix(arguments: argparse.Namespace) -> int:
    if arguments.schema:
        from harness.matrix.model import matrix_schema

        out.say_json(matrix_schema())
        return out.OK
    from harness.matrix.command import matrix_command

    return matrix_command(_writable(arguments), check=arguments.check, json=arguments.json)


def _vocabulary(arguments: argparse.Namespace) -> int:
    from harness.recording.vocabulary import vocabulary_command

    return vocabulary_command(arguments.surface, write_them=arguments.write, json=arguments.json)


def _list(arguments: argparse.Namespace) -> int:
    from harness.listing import list_command

    project = _project(arguments) if arguments.what == "cassettes" else None
    return list_command(arguments.what, project, json=arguments.json)


def _install(arguments: argparse.Namespace) -> int:
    from harness.agents.command import install_command

    return install_command(arguments.names, json=arguments.json)


def _doctor(arguments: argparse.Namespace) -> int:
    from harness.listing import doctor_command

    return doctor_command(json=arguments.json)


def _copy(arguments: argparse.Namespace) -> int:
    from harness.copying import copy_command
    from harness.project import project_at, shipped

    project = shipped() if arguments.root is None else project_at(arguments.root)
    return copy_command(project, arguments.folder, json=arguments.json)


def _new_normalizer(arguments: argparse.Namespace) -> int:
    from harness.start.new import new_command

    return new_command(arguments.folder, arguments.language, arguments.surface, json=arguments.json)


def _schema(arguments: argparse.Namespace) -> int:
    if arguments.language == "ts":
        if arguments.protocol or arguments.stage != "normalized_out":
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


if __name__ == "__main__":
    entry()
