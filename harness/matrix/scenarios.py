"""`matrix/scenarios.md`: each scenario side by side, the differences named."""

from harness.matrix.markdown import escape, page, table
from harness.matrix.model import Matrix, ScenarioStep, ScenarioView

_INTRO = """\
What each agent made of the same story: the canonical events without their words, in their order.
A number is how many events stand there, a dot is none, and `*` says that all of them were made up
by the normalizer, since the agent tells no such thing. Sessions, threads, accounts, usage and
warnings are left out.
"""


def scenarios_page(matrix: Matrix) -> bytes:
    """Return the file."""
    return page("Same scenario, side by side", [_INTRO, *map(_view, matrix.scenarios)])


def _view(view: ScenarioView) -> str:
    title = f": {view.title}" if view.title else ""
    text = f"## {escape(view.id)}{escape(title)}\n\n"
    body = [
        [
            number,
            c.surface,
            c.agent,
            c.outcome,
            "; ".join(c.differences) or "none",
        ]
        for number, c in enumerate(view.columns, 1)
    ]
    text += table(["", "Surface", "Agent", "Outcome", "Differences"], body) + "\n"
    head = ["Type", "Of", "Status", *(str(n) for n in range(1, len(view.columns) + 1))]
    return text + table(head, map(_step, view.steps))


def _step(step: ScenarioStep) -> list[object]:
    marks = [
        (f"{count}*" if made else str(count)) if count else "·"
        for count, made in zip(step.counts, step.made, strict=True)
    ]
    return [step.type, step.item, step.status, *marks]
