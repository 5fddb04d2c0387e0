"""`harness record --interactive`: a conversation typed at the terminal, a cassette and a draft."""

import os
import sys
from pathlib import Path
from typing import Final

from harness import output as out
from harness.interactive.draft import write
from harness.interactive.person import Person
from harness.interactive.terminal import Terminal
from harness.pending import in_ci, waiting
from harness.recording.batch import Batch, describe, plan, record_one, verified
from harness.recording.errors import RecordError
from harness.recording.models import Live, Taped
from harness.recording.terminable import unwinding
from harness.scenarios import Scenario, scenario, scenario_ids
from harness.scenarios.model import Interrupt
from harness.surfaces import Surface

_FREE: Final = Scenario(
    id="interactive", title="Typed at a terminal", shows=("text",), turns=(), permissions="ask"
)
"""What a real model is asked in, where no scenario is named."""
_ANY: Final = "text"
"""A scenario that every surface can express."""
_LIKE: Final[dict[Interrupt | None, str]] = {
    "text": "interrupt-text",
    "command": "interrupt-command",
    "start": "cancel-before-first-token",
    "held": "cancel-before-first-token",
}
"""The shipped scenario whose client interrupts then: what excludes it excludes any such."""


def record_interactively(batch: Batch, draft: Path | None) -> int:
    """Run the command; return its exit code. Raises UsageError and RecordError.

    0: the cassette is there, and the draft; 1: it is another than was there, and waits.
    """
    live = isinstance(batch.model, Live)
    _refuse(batch, live=live)
    base = scenario(batch.scenarios[0]) if batch.scenarios else _FREE
    draft = draft or Path(f"{base.id}-typed.yaml" if batch.scenarios else "interactive.yaml")
    _check_place(draft)
    _check_folder(batch.into)
    names = Batch(
        **{f: getattr(batch, f) for f in batch.__struct_fields__}
        | {"scenarios": batch.scenarios or [_ANY]}
    )
    work = plan(names)
    if len(work) != 1:
        agents = ", ".join(agent for _, agent, _ in work)
        raise out.UsageError(
            f"--interactive is one conversation, with one agent: name one --surface and one "
            f"--agent (of {agents})"
        )
    room, agent, name = work[0]
    kept: list[tuple[Path, Scenario]] = []

    def keep(story: Scenario) -> None:
        kept.append((write(story, draft), story))

    # Of a signal too, it is the terminal that is put back first.
    with unwinding(), Terminal() as terminal:
        told = _beyond(room, agent)
        person = Person(base, draft.stem, terminal, live=live, keep=keep, told=told)
        try:
            recording = record_one(batch, room, agent, name, client=person)
        except RecordError as error:
            out.note(f"harness record: {room.name}/{draft.stem}: {error}")
            return error.code
    place, story = kept[0]
    out.say(describe(recording))
    out.say(f"the draft: {place}")
    if place != draft:
        out.say(f"  {draft} is another: it stays")
    excluded = room.manifest.excluded_for(agent)
    for when in {turn.client.interrupt for turn in story.turns} & _LIKE.keys():
        if reason := excluded.get(_LIKE[when]):
            out.say(f"  the draft's interrupt cannot be replayed here: {reason}")
    if batch.verify:
        # What is waiting has no scenario's name.
        if place != draft:
            raise out.UsageError(f"--verify replays the draft: put {place} in place first")
        return verified(batch, agent, str(place), recording).code
    return out.NOT_CONFORMING if recording.result in {"waits", "differs"} else out.OK


def _beyond(room: Surface, agent: str) -> list[str]:
    """Say what of a client's part this agent leaves no room for."""
    excluded = room.manifest.excluded_for(agent)
    return [f"({excluded[like]})" for like in ("command-approved", "question") if like in excluded]


def at_terminal() -> bool:
    """Whether a person may type, and see."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _refuse(batch: Batch, *, live: bool) -> None:
    """Raise UsageError for what cannot be, before anything is asked."""
    if in_ci():
        raise out.UsageError("--interactive: this is a CI job (CI is set), and a person is needed")
    if not at_terminal():
        raise out.UsageError(
            "--interactive: there is no terminal on standard input and output: nothing was "
            "recorded; run it at a terminal, or record a --scenario without it"
        )
    if batch.all or len(batch.scenarios) > 1 or batch.json:
        raise out.UsageError(
            "--interactive is one conversation: without --all and --json, with one --scenario"
        )
    if batch.timeout is not None:
        raise out.UsageError("--interactive: a person takes what time it takes: without --timeout")
    if isinstance(batch.model, Taped):
        raise out.UsageError(
            "--interactive: recorded answers are to what was asked then; replay the draft with "
            "--model-cassette, or ask a real model with --live"
        )
    if not batch.scenarios and not live:
        raise out.UsageError(
            "--interactive: which model answers? Name a --scenario, whose script does, or say "
            "--live"
        )


def _check_place(draft: Path) -> None:
    if draft.suffix != ".yaml":
        raise out.UsageError(f"--draft {draft}: a name that ends in .yaml is needed")
    if draft.stem in scenario_ids():
        raise out.UsageError(
            f"--draft {draft}: there is a scenario {draft.stem!r} already; choose another name"
        )
    if waiting(draft).exists():
        raise out.UsageError(
            f"--draft {draft}: {waiting(draft)} waits from before; rename or remove it"
        )
    if draft.is_dir():
        raise out.UsageError(f"--draft {draft}: a folder is there; choose another name")
    if not os.access(draft.parent, os.W_OK):
        raise out.UsageError(f"--draft {draft}: the folder cannot be written to")


def _check_folder(into: Path) -> None:
    """Raise UsageError for a folder that cannot be made or written: nobody has typed yet."""
    there = next(place for place in (into, *into.absolute().parents) if place.exists())
    if not there.is_dir():
        raise out.UsageError(f"--into {into}: {there} is no folder")
    if not os.access(there, os.W_OK):
        raise out.UsageError(f"--into {into}: {there} cannot be written to")
