"""Each cell rule by itself, on coverage made for it."""

from pathlib import Path

import pytest

from harness.matrix.cells import cell
from harness.matrix.coverage import Coverage
from harness.matrix.model import Cell
from harness.matrix.rows import ADDITIONS, ROWS
from harness.surfaces import Surface
from tests.matrix.making import MADE, NATIVE, PARTIAL, SCENARIOS, Make, scenario

ROW = {row.id: row for row in (*ROWS, *ADDITIONS)}
PERMISSION = ROW["permission"]
ASKED = {"permission": (NATIVE, "ask")}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return Make(tmp_path)


def of(surfaces: list[Surface], *coverages: Coverage, row: str = "permission") -> Cell:
    by: dict[str, list[Coverage]] = {s.name: [] for s in surfaces}
    for coverage in coverages:
        by[coverage.header.surface].append(coverage)
    whole = row in {r.id for r in ADDITIONS}
    return cell(ROW[row], surfaces, by, SCENARIOS, whole=whole)


def states(got: Cell) -> dict[str, str]:
    return {f"{s.surface}/{s.agent}": s.state for s in got.states}


def test_direct_is_native_on_every_base_surface(make: Make) -> None:
    one, two, rich = make.surface("one"), make.surface("two"), make.surface("rich", "rich")
    got = of(
        [one, two, rich],
        make.coverage("one", scenario="talk"),
        make.coverage("one", ASKED),
        make.coverage("two", ASKED),
        make.coverage("rich"),
    )
    assert (got.value, got.reason) == ("direct", "native on one, two")
    assert [(e.cassette, e.frame, e.kind) for e in got.evidence] == [
        ("one/x-1/ask", 7, "ask"),
        ("two/x-1/ask", 7, "ask"),
    ]
    assert states(got) == {"one/x-1": "native", "rich/x-1": "silent", "two/x-1": "native"}


def test_partial_is_native_but_not_on_every_base_surface(make: Make) -> None:
    one, rich = make.surface("one"), make.surface("rich", "rich")
    got = of([one, rich], make.coverage("one"), make.coverage("rich", ASKED))
    assert (got.value, got.reason) == ("partial", "native on rich; not shown on one")
    assert got.states[0].silent == ["one/x-1/ask"]


def test_partial_is_one_agent_of_a_base_surface_that_does_not_show_it(make: Make) -> None:
    one = make.surface("one")
    got = of([one], make.coverage("one", ASKED), make.coverage("one", agent="y"))
    assert (got.value, got.reason) == ("partial", "native on one (x-1); not shown on one (y-1)")


def test_an_agent_that_was_not_tried_is_none_that_does_not_show_it(make: Make) -> None:
    one = make.surface("one")
    got = of([one], make.coverage("one", ASKED), make.coverage("one", agent="y", scenario="talk"))
    assert got.value == "direct"
    assert states(got) == {"one/x-1": "native", "one/y-1": "not tried"}


def test_partial_is_shown_by_synthesis_alone(make: Make) -> None:
    got = of([make.surface("one")], make.coverage("one", {"permission": (MADE, "ask")}))
    assert got.value == "partial"
    assert got.reason == "made up, wholly or in part, on one"


def test_partial_is_native_on_no_base_surface(make: Make) -> None:
    got = of([make.surface("rich", "rich")], make.coverage("rich", ASKED))
    assert (got.value, got.reason) == ("partial", "native on rich; no base surface is recorded")


def test_partial_is_a_base_surface_whose_manifest_excludes_it(make: Make) -> None:
    why = "{ask: nobody is there, offer: nobody is there, plan: nobody is there}"
    one, two = make.surface("one"), make.surface("two", excluded=why)
    got = of([one, two], make.coverage("one", ASKED), make.coverage("two", scenario="talk"))
    assert (got.value, got.reason) == ("partial", "native on one; not shown on two")
    assert [(s.surface, s.state, s.note) for s in got.states] == [
        ("one", "native", ""),
        ("two", "excluded", "nobody is there"),
    ]


def test_a_base_surface_that_was_never_recorded_is_no_evidence_against_direct(make: Make) -> None:
    got = of([make.surface("one"), make.surface("two")], make.coverage("one", ASKED))
    assert got.value == "direct"


def test_partial_is_a_base_surface_that_was_recorded_without_it(make: Make) -> None:
    one, two = make.surface("one"), make.surface("two")
    got = of([one, two], make.coverage("one", ASKED), make.coverage("two", scenario="talk"))
    assert (got.value, got.reason) == ("partial", "native on one; not shown on two")


def test_optional_is_shown_by_an_experimental_surface_alone(make: Make) -> None:
    one, lab = make.surface("one"), make.surface("lab", "experimental")
    got = of([one, lab], make.coverage("one"), make.coverage("lab", ASKED))
    assert (got.value, got.reason) == ("optional", "only with an experimental surface")
    assert got.evidence[0].switch == "an experimental surface"


def test_optional_is_shown_by_an_experimental_kind_alone(make: Make) -> None:
    one = make.surface("one", kinds="{ask: {to: [request.opened], experimental: true}}")
    assert of([one], make.coverage("one", ASKED)).value == "optional"


@pytest.mark.parametrize(
    ("under", "switch"),
    [("offer", "the client's capability files"), ("plan", "a mode that the client sets")],
)
def test_optional_is_shown_under_the_client_s_switch_alone(
    make: Make, under: str, switch: str
) -> None:
    one = make.surface("one")
    switched = make.coverage("one", ASKED, scenario=under)
    got = of([one], switched, make.coverage("one"))
    assert (got.value, got.reason) == ("optional", f"only with {switch}")
    assert of([one], switched, make.coverage("one", ASKED)).value == "direct"


def test_the_mode_that_the_client_sets_is_no_switch_for_the_row_mode(make: Make) -> None:
    shown = {"mode": (NATIVE, "mode")}
    got = of([make.surface("one")], make.coverage("one", shown, scenario="plan"), row="mode")
    assert got.value == "direct"


def test_not_tried_is_no_scenario_that_would_show_it(make: Make) -> None:
    one = make.surface("one")
    got = of([one], make.coverage("one", {"text": (NATIVE, "t")}, scenario="talk"))
    assert (got.value, got.evidence) == ("not tried", [])
    assert got.note == "ask, offer, plan on one (x)"
    assert of([]).value == "not tried"


@pytest.mark.parametrize(
    "kinds",
    ["{list: {to: [turn.plan.updated]}}", "{the todo list: {ignored: by its name}}"],
)
def test_not_tried_is_a_native_kind_for_it_that_never_came(make: Make, kinds: str) -> None:
    one = make.surface("one", kinds=kinds)
    asked = {"ask": scenario("ask", "todo")}
    got = cell(ROW["todo"], [one], {"one": [make.coverage("one")]}, asked)
    assert got.value == "not tried"
    assert got.reason.startswith("the native kinds for it never came: one: ")


def test_a_kind_that_came_and_did_not_show_it_is_no_kind_for_it(make: Make) -> None:
    one = make.surface("one", kinds="{list: {to: [turn.plan.updated]}}")
    quiet = make.coverage("one")
    quiet.native_kinds["list"] = (1, 1)
    asked = {"ask": scenario("ask", "todo")}
    assert cell(ROW["todo"], [one], {"one": [quiet]}, asked).value == "not core"


def test_what_the_client_sends_is_no_kind_for_a_row_by_its_name(make: Make) -> None:
    one = make.surface("one", kinds="{client todo/list: {ignored: the client's own act}}")
    asked = {"ask": scenario("ask", "todo")}
    got = cell(ROW["todo"], [one], {"one": [make.coverage("one")]}, asked)
    assert got.value == "not core"


def test_not_core_is_tried_without_a_kind_for_it(make: Make) -> None:
    one = make.surface("one", kinds="{talk: {to: [content.delta]}}")
    got = of([one], make.coverage("one"))
    assert (got.value, got.evidence, got.note) == ("not core", [], "")


def test_the_silence_of_a_constructed_cassette_says_nothing(make: Make) -> None:
    made = make.coverage("one", provenance="constructed")
    assert of([make.surface("one")], made).value == "not tried"


def test_constructed_cassettes_alone_are_marked(make: Make) -> None:
    one = make.surface("one")
    made = make.coverage("one", ASKED, provenance="constructed")
    assert of([one], made).constructed_only
    assert not of([one], made, make.coverage("one", ASKED, scenario="talk")).constructed_only
    assert not of([one], make.coverage("one")).constructed_only


def test_one_native_event_shows_a_kind_but_an_addition_is_native_throughout(make: Make) -> None:
    one = make.surface("one")
    for row, addition, value in (
        ("permission", False, "direct"),
        ("Permission request fields", True, "partial"),
    ):
        native = make.coverage("one", {row: (NATIVE, "a")}, addition=addition)
        made = make.coverage("one", {row: (PARTIAL, "b")}, scenario="talk", addition=addition)
        assert of([one], native, row=row).value == "direct"
        assert of([one], native, made, row=row).value == value


def test_an_addition_is_tried_by_the_scenarios_of_its_kind(make: Make) -> None:
    one = make.surface("one")
    assert of([one], make.coverage("one"), row="Permission request fields").value == "not core"
    assert of([one], make.coverage("one"), row="Diff metadata").value == "not tried"
    quiet = of([one], make.coverage("one", scenario="talk"), row="Permission request fields")
    assert quiet.value == "not tried"
