"""The command line: each command with its options, in the order of `--help`."""

import argparse
from collections.abc import Callable
from pathlib import Path

from harness import __version__
from harness.commands import handlers as do
from harness.commands import options

Handler = Callable[[argparse.Namespace], int]

_EPILOG = """\
exit codes: 0 all that was asked holds; 1 something does not conform; 2 usage; 3 nothing was
run; 4 a cassette or an expected file is unusable; 5 an agent or a normalizer could not be
started; 130 interrupted
"""


def make_parser() -> argparse.ArgumentParser:  # noqa: PLR0915 - each command, once
    """Return the whole command line's parser: `run` is what the command calls."""
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
        type=options.folder,
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

    demo = command(
        "demo", do.demo, "record real agents, replay them and the corpus, show the matrix"
    )
    options.isolation(demo)

    record = command("record", do.record, "record a scenario from a real agent into a cassette")
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
        "--scenario",
        action="append",
        default=[],
        metavar="ID",
        help="or a scenario's FILE.yaml; may be given again",
    )
    record.add_argument("--all", action="store_true", help="every scenario of the surfaces named")
    record.add_argument(
        "--verify", action="store_true", help="record each twice, and show any difference"
    )
    record.add_argument("--into", type=options.folder, metavar="DIR", help="instead of cassettes/")
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
    options.isolation(record)
    options.interactive(record)
    options.real_model(record)

    check = command("check", do.check, "judge a normalizer on cassettes by the laws and expected/")
    options.selection(check)
    options.normalizer(check)
    check.add_argument(
        "--level",
        action="append",
        choices=["schema", "laws", "expected", "coverage"],
        help="hold it to this level alone; may be given again (default: what it claims, or all)",
    )
    check.add_argument(
        "--documents",
        action="store_true",
        help="judge another normalizer too on the conversations that were written by hand, which "
        "pin what the reference normalizers make of frames that no agent was seen to send",
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
        "report",
        do.report,
        "print a report that `check --report jsonl=FILE` kept",
        json=False,
    )
    report.usage = "harness report [FORMAT[=PATH] ...] FILE"
    report.epilog = (
        "FORMAT is as of `check --report`; none of them is the terminal's. It ends with the exit "
        "code of the run that is reported, and with 4 where the report is truncated."
    )
    report.add_argument("formats", nargs="*", metavar="FORMAT[=PATH]")
    report.add_argument("file", metavar="FILE", help="`-` is standard input")

    accept = command(
        "accept", do.accept, "write expected/ from what the reference normalizers give now"
    )
    options.selection(accept)

    review = command(
        "review",
        do.review,
        "show what waits as .new beside the old files, and accept or reject it",
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
        "replay",
        do.replay,
        "print the canonical events of a cassette, or another stage",
        json=False,
    )
    replay.add_argument("cassette", metavar="CASSETTE")
    options.stage(replay, "native_in", "normalized_out", "chat_event", "legacy_out")
    replay.add_argument("--json", action="store_true", help="as without it: JSON lines")
    options.normalizer(replay)

    show = command("show", do.show, "print a cassette as a timeline of both directions", json=False)
    show.add_argument("cassette", metavar="CASSETTE")
    show.add_argument(
        "--width",
        type=options.width,
        metavar="COLUMNS",
        help="0 cuts nothing (default: the terminal's)",
    )

    play = command("play", do.play, "be a cassette's agent: say what was recorded", json=False)
    options.playing(play)

    matrix = command("matrix", do.matrix, "write matrix/ from what the cassettes show")
    matrix.add_argument(
        "--check", action="store_true", help="fail when matrix/ is stale, write nothing"
    )
    matrix.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of matrix/matrix.json alone"
    )

    options.constructing(
        command(
            "construct",
            do.construct,
            "write cassettes of the conversations that were written by hand",
        )
    )
    options.mutating(
        command(
            "mutate",
            do.mutate,
            "put faults into the reference normalizers, and see which are caught",
        )
    )

    vocabulary = command(
        "vocabulary",
        do.vocabulary,
        "compare the pinned native kinds with the installed agents'",
    )
    vocabulary.add_argument("--surface", action="append", default=[], metavar="S")
    vocabulary.add_argument(
        "--write", action="store_true", help="add what is new to vocabulary.yaml, not mapped yet"
    )

    listing = command("list", do.listing, "list surfaces, scenarios, cassettes, agents or laws")
    listing.add_argument("what", choices=["surfaces", "scenarios", "cassettes", "agents", "laws"])

    copy = command("copy", do.copy, "write the corpus that came with the package into a folder")
    copy.add_argument("folder", type=options.folder, metavar="DIR", help="a new or an empty folder")

    _agents(commands)
    _new(commands)
    command("doctor", do.doctor, "say which agents are found, and how to get the others")
    schema = command(
        "schema", do.schema, "print the JSON Schema of the canonical events", json=False
    )
    options.stage(schema, "normalized_out", "chat_event", "legacy_out")
    schema.add_argument(
        "--language",
        choices=["json", "ts"],
        default="json",
        help="ts: the canonical events as TypeScript, with a strict decoder (default: json)",
    )
    other = schema.add_mutually_exclusive_group()
    other.add_argument(
        "--protocol", action="store_true", help="of the messages to a normalizer behind a command"
    )
    other.add_argument("--report", action="store_true", help="of a line of a report instead")
    return parser


def _agents(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    agents = commands.add_parser(
        "agents", help="list the agents, or install one from npm", description="The agents."
    )
    of_agents = agents.add_subparsers(dest="action", required=True, metavar="ACTION")
    known = of_agents.add_parser("list", help="say which are found, and how to get the others")
    known.set_defaults(run=do.listing, what="agents")
    install = of_agents.add_parser(
        "install", help="put a pinned agent from npm into the user's cache folder"
    )
    install.add_argument("names", nargs="+", metavar="NAME")
    install.set_defaults(run=do.install_agents)
    for added in (known, install):
        added.add_argument("--json", action="store_true", help="print the result as JSON")


def _new(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    new = commands.add_parser(
        "new",
        help="write the start of a normalizer, a scenario or a surface",
        description="Write the start of something of your own, which runs as it is.",
    )
    kinds = new.add_subparsers(dest="kind", required=True, metavar="KIND")
    normalizer = kinds.add_parser(
        "normalizer", help="a folder with a normalizer that runs and is judged as it is"
    )
    normalizer.set_defaults(run=do.new_normalizer)
    normalizer.add_argument(
        "folder", type=options.folder, metavar="DIR", help="a new or an empty folder"
    )
    normalizer.add_argument("--language", choices=["ts", "python"], required=True)
    normalizer.add_argument(
        "--surface", default="codex-exec", metavar="S", help="(default: codex-exec)"
    )
    scenario = kinds.add_parser(
        "scenario", help="a scenario that can be recorded as it is (in a checkout)"
    )
    scenario.set_defaults(run=do.new_scenario)
    scenario.add_argument("name", metavar="NAME", help="its id, such as two-files")
    scenario.add_argument(
        "--from",
        dest="source",
        metavar="SCENARIO",
        help="what happens at first, as another scenario tells it (default: a command is run)",
    )
    surface = kinds.add_parser(
        "surface",
        help="a surface and its tests, with a stand-in in its agent's place (in a checkout)",
    )
    surface.set_defaults(run=do.new_surface)
    surface.add_argument("name", metavar="NAME", help="such as some-cli")
    surface.add_argument(
        "--provider",
        choices=["acp", "claude", "codex", "cursor", "opencode"],
        default="acp",
        help="whose agent it is, by EVENTS.md (default: acp, for any other)",
    )
    for added in (normalizer, scenario, surface):
        added.add_argument("--json", action="store_true", help="print the result as JSON")
