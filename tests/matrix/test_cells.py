"""Each cell rule by itself, on coverage made for it."""

from pathlib import Path

import pytest

from harness.cassette import Agent, Header, Provenance
from harness.matrix.cells import cell
from harness.matrix.coverage import Coverage, Sighting
from harness.matrix.rows import ROWS
from harness.surfaces import Surface

ROW = {row.id: row for row in ROWS}
PERMISSION = ROW["permission"]


@pytest.fixture
def make(tmp_path: Path) -> "Make":
    return Make(tmp_path)


class Make:
    """Makes surfaces of a provider, and what a cassette of one shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def surface(self, name: str, tier: str = "base", kinds: str = "{}") -> Surface:
        folder = self.folder / name
        folder.mkdir()
        (folder / "manifest.yaml").write_text(
            f"{{surface: {name}, provider: codex, title: t, tier: {tier}, tier_reason: r,"
            " agents: []}"
        )
        (folder / "vocabulary.yaml").write_text(f"{{version: '1', source: s, kinds: {kinds}}}")
        return Surface(folder)

    def coverage(
        self,
        surface: str,
        shown: dict[str, tuple[bool, str]],
        provenance: Provenance = "scripted",
        scenario: str = "a",
    ) -> Coverage:
        """`shown` is row to (native, kind)."""
        header = Header(
            1,
            surface,
            "codex",
            Agent("x", "1"),
            scenario,
            provenance,
            "2026-01-01T00:00:00Z",
        )
        rows = {
            row: Sighting(header.id, 7, 1, native, [kind]) for row, (native, kind) in shown.items()
        }
        return Coverage(header, rows=rows)


NATIVE = {"permission": (True, "ask")}
SYNTHESIZED = {"permission": (False, "ask")}
SHOWS = {"a": ("permission",), "b": ("text",)}


def test_direct_is_native_on_every_base_surface(make: Make) -> None:
    one, two, rich = make.surface("one"), make.surface("two"), make.surface("rich", "rich")
    got = cell(
        PERMISSION,
        [one, two, rich],
        {
            "one": [make.coverage("one", {}), make.coverage("one", NATIVE)],
            "two": [make.coverage("two", NATIVE)],
            "rich": [make.coverage("rich", {})],
        },
        SHOWS,
    )
    assert (got.value, got.reason) == ("direct", "native on one, two")
    assert [(e.cassette, e.frame) for e in got.evidence] == [("one/x-1/a", 7), ("two/x-1/a", 7)]


def test_partial_is_native_but_not_on_every_base_surface(make: Make) -> None:
    one, rich = make.surface("one"), make.surface("rich", "rich")
    coverages = {"one": [make.coverage("one", {})], "rich": [make.coverage("rich", NATIVE)]}
    got = cell(PERMISSION, [one, rich], coverages, SHOWS)
    assert (got.value, got.reason) == ("partial", "native on rich, not shown on one")


def test_partial_is_shown_by_synthesis_alone(make: Make) -> None:
    one = make.surface("one")
    got = cell(PERMISSION, [one], {"one": [make.coverage("one", SYNTHESIZED)]}, SHOWS)
    assert (got.value, got.reason) == ("partial", "only by synthesis")


def test_a_base_surface_that_was_never_recorded_is_no_evidence_against_direct(make: Make) -> None:
    one, two = make.surface("one"), make.surface("two")
    got = cell(PERMISSION, [one, two], {"one": [make.coverage("one", NATIVE)]}, SHOWS)
    assert got.value == "direct"


def test_optional_is_shown_by_an_experimental_surface_alone(make: Make) -> None:
    one, lab = make.surface("one"), make.surface("lab", "experimental")
    coverages = {"one": [make.coverage("one", {})], "lab": [make.coverage("lab", NATIVE)]}
    assert cell(PERMISSION, [one, lab], coverages, SHOWS).value == "optional"


def test_optional_is_shown_by_an_experimental_kind_alone(make: Make) -> None:
    kinds = "{ask: {to: [request.opened], experimental: true}}"
    one = make.surface("one", kinds=kinds)
    got = cell(PERMISSION, [one], {"one": [make.coverage("one", NATIVE)]}, SHOWS)
    assert got.value == "optional"


def test_not_tried_is_no_scenario_that_would_show_it(make: Make) -> None:
    one = make.surface("one")
    coverages = {"one": [make.coverage("one", {"text": (True, "t")}, scenario="b")]}
    got = cell(PERMISSION, [one], coverages, SHOWS)
    assert (got.value, got.evidence) == ("not tried", [])
    assert cell(PERMISSION, [], {}, SHOWS).value == "not tried"


def test_not_seen_is_not_a_no(make: Make) -> None:
    one = make.surface("one", kinds="{ask: {to: [request.opened]}}")
    got = cell(PERMISSION, [one], {"one": [make.coverage("one", {})]}, SHOWS)
    assert (got.value, got.reason) == ("not seen", "its kinds never came: one: ask")


def test_not_core_is_tried_without_a_kind_for_it(make: Make) -> None:
    one = make.surface("one", kinds="{talk: {to: [content.delta]}}")
    got = cell(PERMISSION, [one], {"one": [make.coverage("one", {})]}, SHOWS)
    assert got.value == "not core"


def test_a_kind_that_came_and_did_not_show_it_is_no_kind_for_it(make: Make) -> None:
    one = make.surface("one", kinds="{ask: {to: [request.opened]}}")
    silent = make.coverage("one", {})
    silent.native_kinds["ask"] = (1, 1)
    assert cell(PERMISSION, [one], {"one": [silent]}, SHOWS).value == "not core"


def test_the_silence_of_a_constructed_cassette_says_nothing(make: Make) -> None:
    one = make.surface("one")
    made = make.coverage("one", {}, "constructed")
    assert cell(PERMISSION, [one], {"one": [made]}, SHOWS).value == "not tried"


def test_constructed_cassettes_alone_are_marked(make: Make) -> None:
    one = make.surface("one")
    made = make.coverage("one", NATIVE, "constructed")
    assert cell(PERMISSION, [one], {"one": [made]}, SHOWS).constructed_only
    real = make.coverage("one", NATIVE, scenario="b")
    assert not cell(PERMISSION, [one], {"one": [made, real]}, SHOWS).constructed_only
