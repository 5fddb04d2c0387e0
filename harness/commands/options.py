"""The options that commands share, or have many of."""

import argparse
from pathlib import Path


def folder(text: str) -> Path:
    """Read a folder's path. Raises ArgumentTypeError."""
    if not text:
        raise argparse.ArgumentTypeError("a folder is needed, not an empty text")
    return Path(text)


def width(text: str) -> int:
    """Read a number of columns, 0 for no limit. Raises ArgumentTypeError."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: a number of columns is needed, or 0")
    return int(text)


def isolation(parser: argparse.ArgumentParser) -> None:
    """Add `--isolate`."""
    parser.add_argument(
        "--isolate",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="in a network namespace with loopback alone (default: where the machine allows it)",
    )


def interactive(record: argparse.ArgumentParser) -> None:
    """Add what `record` has for a person."""
    person = record.add_argument_group(
        "a person as the client",
        "a terminal is needed; Esc or Ctrl-C interrupts the agent's turn, Ctrl-D at a prompt ends "
        "the recording and keeps it, Ctrl-C there drops it; see docs/INTERACTIVE.md",
    )
    person.add_argument(
        "--interactive",
        action="store_true",
        help="type the prompts, answer what is asked; the script of --scenario answers, or, with "
        "--live, a real model (not with --model-cassette: that replays the result). Writes the "
        "cassette and a scenario that replays it",
    )
    person.add_argument(
        "--draft",
        type=Path,
        metavar="FILE.yaml",
        help="where that scenario goes; its stem is the recording's name (default: "
        "./SCENARIO-typed.yaml, or ./interactive.yaml)",
    )


def real_model(record: argparse.ArgumentParser) -> None:
    """Add what `record` may ask instead of the script."""
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


def stage(parser: argparse.ArgumentParser, *stages: str) -> None:
    """Add `--stage`."""
    # As in harness/projection/stages.py, which a test holds against these.
    parser.add_argument(
        "--stage",
        choices=stages,
        default="normalized_out",
        help="frames with their native kinds (native_in), canonical events (normalized_out, the "
        "default), chat events (chat_event), events of the older model (legacy_out)",
    )


def playing(play: argparse.ArgumentParser) -> None:
    """Add the options of `play`."""
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
        type=folder,
        metavar="DIR",
        help="write into DIR a program of the agent's name that is the agent, to stand in PATH "
        "or to be named where a client asks for the agent's program",
    )


def selection(parser: argparse.ArgumentParser) -> None:
    """Add what chooses cassettes."""
    parser.add_argument("cassettes", nargs="*", metavar="CASSETTE", help="a path or an id")
    parser.add_argument("--surface", metavar="S")
    parser.add_argument("--scenario", metavar="ID")


def normalizer(parser: argparse.ArgumentParser) -> None:
    """Add what names the normalizer under test, and bounds it."""
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
        type=seconds,
        metavar="SECONDS",
        help="for each answer of a normalizer behind a command (default: 10)",
    )
    parser.add_argument(
        "--memory-limit",
        type=megabytes,
        metavar="MB",
        help="for all processes of a normalizer behind a command, 0 for none (default: 2048)",
    )


def seconds(text: str) -> float:
    """Read a time limit. Raises ArgumentTypeError."""
    from harness.subject.choice import seconds

    return seconds(text)


def megabytes(text: str) -> int:
    """Read a memory limit. Raises ArgumentTypeError."""
    from harness.subject.choice import megabytes

    return megabytes(text)


def constructing(construct: argparse.ArgumentParser) -> None:
    """Add the options of `construct`."""
    construct.add_argument("--surface", metavar="S")
    construct.add_argument("--into", type=folder, metavar="DIR", help="instead of cassettes/")


def mutating(mutate: argparse.ArgumentParser) -> None:
    """Add the options of `mutate`."""
    mutate.add_argument("--surface", metavar="S", help="its normalizer's modules, on its cassettes")
    mutate.add_argument(
        "--file", action="append", metavar="FILE", help="a module, such as ledger.py; may be again"
    )
    mutate.add_argument("--sample", type=count, metavar="N", help="so many, chosen by --seed")
    mutate.add_argument("--seed", type=int, default=1)
    mutate.add_argument("--workers", type=count, default=2, metavar="N")
    mutate.add_argument(
        "--again", action="store_true", help="also those that were caught by what has not changed"
    )
    mutate.add_argument(
        "--least", type=percent, default=95.0, metavar="PERCENT", help="the score that holds"
    )
    mutate.add_argument(
        "--equivalents",
        type=Path,
        metavar="FILE",
        default=Path(__file__).parent.parent / "mutation" / "equivalents.toml",
        help="mutants that no run can tell from the original, with their reasons",
    )


def percent(text: str) -> float:
    """Read a share of a hundred. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:  # noqa: PLR2004 - per cent; false of NaN too
        raise argparse.ArgumentTypeError(f"{text!r}: a number from 0 to 100 is needed")
    return value


def count(text: str) -> int:
    """Read a number from 1. Raises ArgumentTypeError."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}: a number from 1 is needed")
    return int(text)
