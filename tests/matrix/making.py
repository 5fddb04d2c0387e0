"""Surfaces, scenarios and coverages made for a test: tiny, and of its own."""

from pathlib import Path

from harness.cassette import Agent, Header, Provenance
from harness.matrix.coverage import Coverage, Sighting
from harness.scenarios import Client, Scenario, Turn
from harness.scenarios.model import Capability, Show
from harness.surfaces import Surface

NATIVE = 2
PARTIAL = 1
MADE = 0


def scenario(
    name: str, *shows: Show, capabilities: tuple[Capability, ...] = (), plan: bool = False
) -> Scenario:
    """Return a scenario that would show these rows."""
    client = Client(mode="plan") if plan else Client()
    return Scenario(name, "A title", shows, (Turn("p", (), client),), capabilities=capabilities)


SCENARIOS = {
    s.id: s
    for s in (
        scenario("ask", "permission"),
        scenario("talk", "text"),
        scenario("offer", "permission", capabilities=("files",)),
        scenario("plan", "permission", plan=True),
    )
}


class Make:
    """Makes surfaces of a provider, and what a cassette of one shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def surface(
        self, name: str, tier: str = "base", kinds: str = "{}", excluded: str = "{}"
    ) -> Surface:
        """Return a surface with this vocabulary."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "manifest.yaml").write_text(
            f"{{surface: {name}, provider: codex, title: t, tier: {tier}, tier_reason: r,"
            f" agents: [{{name: x}}], excluded: {excluded}}}"
        )
        (folder / "vocabulary.yaml").write_text(f"{{version: '1', source: s, kinds: {kinds}}}")
        return Surface(folder)

    def coverage(  # noqa: PLR0913 - each has a default, and is named where it is given
        self,
        surface: str,
        shown: dict[str, tuple[int, str]] | None = None,
        *,
        provenance: Provenance = "scripted",
        scenario: str = "ask",
        agent: str = "x",
        addition: bool = False,
    ) -> Coverage:
        """Return a coverage; `shown` is row to (rank, native kind)."""
        header = Header(
            1,
            surface,
            "codex",
            Agent(agent, "1"),
            scenario,
            provenance,
            "2026-01-01T00:00:00Z",
        )
        found = {}
        for row, (rank, kind) in (shown or {}).items():
            found[row] = Sighting(7, kind, rank)
            found[row].add(7, kind, rank)
        coverage = Coverage(header)
        if addition:
            coverage.additions = found
        else:
            coverage.kinds = found
        return coverage
