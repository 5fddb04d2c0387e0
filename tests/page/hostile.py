"""A corpus that attacks its reader: markup, script, bidirectional controls, ANSI, odd lines."""

from pathlib import Path

from harness.cassette import CassetteWriter, Header
from harness.cassette.format import Agent
from harness.project import Project

ATTACKS = (
    "<script>document.title = 'taken'</script>",
    "</script><img src=x onerror=\"document.title='taken'\">",
    "<!--<script>",
    "\u202eright to left\u2066 isolated",
    "\x1b[31mred\x1b[0m",
    "line\u2028separator\u2029paragraph",
    "a|b\nnext\ttab\u0000nul",
    "{{ 7*7 }} {% raw %}",
    "javascript:alert(1)",
    "'\"><svg onload=alert(1)>",
)
LONG = 3000
"""Frames of the long cassette, but for its first and last ones."""

EXACT = 12345678901234567890123
"""A number that a double cannot hold."""


def make(folder: Path) -> Project:
    """Write the corpus; return it. The cassettes are the tests' own, not recordings."""
    project = Project(folder)
    # What a cassette's own header says is shown too.
    _write(project, "hostile", ATTACKS, command=["<b>agent</b>", ATTACKS[1], ATTACKS[3]])
    _write(project, "long", [f"word {n} " for n in range(LONG)])
    broken = project.cassettes / "codex-exec/codex-0.163.0/<img src=x onerror=alert(1)>.jsonl"
    broken.write_bytes(b"junk\n")
    return project


def _write(
    project: Project, scenario: str, texts: object, command: list[str] | None = None
) -> None:
    assert isinstance(texts, (list, tuple))
    header = Header(
        1,
        "codex-exec",
        "codex",
        Agent("codex", "0.163.0"),
        scenario,
        "constructed",
        "2026-01-01T00:00:00Z",
        command=command or [],
        sources=["<i>documents</i>"],
    )
    path = project.cassettes / f"{header.id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with CassetteWriter(path, header) as writer:
        writer.frame(0, "out", "start", "data", {"command": ["codex", *(command or [])]})
        writer.frame(1, "in", "stdout", "data", {"type": "thread.started", "thread_id": "t"})
        writer.frame(2, "in", "stdout", "data", {"type": "turn.started"})
        for number, text in enumerate(texts):
            item = {"id": f"item_{number}", "type": "agent_message", "text": text, "n": EXACT}
            data = {"type": "item.completed", "item": item, text: [text]}
            writer.frame(3 + number, "in", "stdout", "data", data)
            writer.frame(3 + number, "in", "stderr", "text", text)
        writer.finish(complete=True, exit_code=0)
