"""`harness review`: arguments in, decisions done one by one, a summary, an exit code."""

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from msgspec import Struct

from harness import output as out
from harness.cassette.show import printable
from harness.pending import in_ci
from harness.project import Project
from harness.review.changes import changes
from harness.review.render import body, cut, heading, pages
from harness.review.terminal import keys
from harness.review.waiting import ReviewError, Waiting, find
from harness.surfaces import surface

Decision = Literal["accepted", "rejected", "skipped", "failed"]

_DECISIONS: dict[str, Decision] = {"a": "accepted", "r": "rejected", "s": "skipped"}
_LEAST, _PROMPT = 20, "a)ccept r)eject s)kip q)uit"


class Done(Struct):
    """What was done of what waits, in order."""

    rows: list[tuple[Waiting, Decision, str]] = []

    def count(self, decision: Decision) -> int:
        """Return how many were decided so."""
        return sum(1 for _, made, _ in self.rows if made == decision)


def review_command(project: Project, arguments: argparse.Namespace) -> int:
    """Show what waits and do what is decided; return the exit code.

    0: nothing waits any more, or a list was asked for; 1: something still does; 2: a person is
    needed and there is none; 4: something could not be done. Raises SurfaceError for one that
    there is not.
    """
    if arguments.surface is not None:
        surface(arguments.surface)
    items = find(project, arguments.names, arguments.surface, arguments.scenario)
    if arguments.list:
        return _list(items, json=arguments.json)
    if arguments.accept or arguments.reject:
        decision: Decision = "accepted" if arguments.accept else "rejected"
        return _all(items, decision, json=arguments.json)
    if arguments.json:
        raise out.UsageError("--json is for --list, --accept and --reject")
    if not items:
        out.say("nothing waits")
        return out.OK
    if (why := _nobody()) is not None:
        raise out.UsageError(
            f"{len(items)} waiting, and {why}: nothing was done; "
            "--list shows what waits, --accept and --reject decide without a person"
        )
    return _one_by_one(items)


def _nobody() -> str | None:
    """Say why no person can be asked."""
    if in_ci():
        return "this is a CI job (CI is set)"
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "there is no terminal"
    return None


def _list(items: Sequence[Waiting], *, json: bool) -> int:
    if json:
        out.say_json([_plain(item) for item in items])
        return out.OK
    for item in items:
        with_it = "" if item.tape is None else f" and {item.tape.name}"
        out.say(printable(f"{_kind(item):<17} {item.path}{with_it}"))
    out.say(f"{len(items)} waiting" if items else "nothing waits")
    return out.OK


def _kind(item: Waiting) -> str:
    return f"{'new' if item.isnew else 'changed'} {item.kind}"


def _plain(item: Waiting) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "id": item.id,
        "path": str(item.path),
        "old": None if item.isnew else str(item.old),
        "problem": item.problem() or "",
    } | ({} if item.tape is None else {"model_cassette": str(item.tape)})


def _all(items: Sequence[Waiting], decision: Decision, *, json: bool) -> int:
    done = Done()
    for item in items:
        _decide(item, decision, done, lambda line: None if json else out.say(line))
    if json:
        rows = [
            {"kind": i.kind, "id": i.id, "path": str(i.path), "result": made, "problem": problem}
            for i, made, problem in done.rows
        ]
        out.say_json(rows)
    else:
        out.say(_summary(done, len(items)))
    return out.UNUSABLE if done.count("failed") else out.OK


def _one_by_one(items: Sequence[Waiting]) -> int:
    done = Done()
    try:
        with keys() as key:
            for number, item in enumerate(items, 1):
                decision = _ask(item, number, len(items), key)
                if decision is None:
                    break
                _decide(item, decision, done, _say)
    finally:
        # Also where Ctrl-C ends it: what was said was done, and nothing else.
        for line in _summary(done, len(items)).splitlines():
            _say(line)
    if done.count("failed"):
        return out.UNUSABLE
    settled = done.count("accepted") + done.count("rejected")
    return out.OK if settled == len(items) else out.NOT_CONFORMING


def _ask(item: Waiting, number: int, total: int, key: Callable[[], str]) -> Decision | None:
    """Show a file and ask; None where the rest is left."""
    width, height = _size()
    lines = body(changes(item), width, colour=out.colour())
    above = heading(item, number, total, width)
    parts = pages(lines, height - len(above) - 2)
    page = 0
    while True:
        for line in [*above, *parts[page]]:
            out.say(line)
        more = f" space: {page + 1}/{len(parts)}" if len(parts) > 1 else ""
        sys.stdout.write(cut(f"{_PROMPT}{more}", width - 1) + "\n")
        sys.stdout.flush()
        while (pressed := key()) not in {*_DECISIONS, "q", "", " ", "\x04"}:
            pass
        if pressed == " ":
            page = (page + 1) % len(parts)
        else:
            return _DECISIONS.get(pressed)


def _decide(item: Waiting, decision: Decision, done: Done, tell: Callable[[str], None]) -> None:
    """Do it and say it, both or neither as far as signals go."""
    problem = ""
    with _held():
        made = decision
        try:
            if decision == "accepted":
                item.accept()
            elif decision == "rejected":
                item.reject()
        except (ReviewError, OSError) as error:
            made, problem = "failed", out.text_of(error)
        done.rows.append((item, made, problem))
        tell(printable(f"{made:<8} {problem or item.old}"))
        sys.stdout.flush()


@contextmanager
def _held() -> Iterator[None]:
    """Keep signals that would end this process until the block has ended."""
    numbers = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _summary(done: Done, total: int) -> str:
    left = total - done.count("accepted") - done.count("rejected")
    counts = [f"{done.count(d)} {d}" for d in ("accepted", "rejected", "skipped", "failed")]
    lines = [f"of {total}: {', '.join(counts)}; {left} still waiting"]
    cassettes = sum(1 for i, made, _ in done.rows if made == "accepted" and i.kind == "cassette")
    if cassettes:
        lines.append(f"{cassettes} cassettes changed: now `harness check --pending`")
    if done.count("accepted"):
        lines.append("and `harness matrix`, which shows what the cassettes show")
    return "\n".join(lines)


def _say(line: str) -> None:
    """Print a line, wrapped by the terminal: a path is never cut."""
    out.say(line)


def _size() -> tuple[int, int]:
    size = os.terminal_size((80, 24))
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        size = shutil.get_terminal_size()
    return max(size.columns or 80, _LEAST), size.lines or 24
