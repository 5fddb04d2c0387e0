"""Comparison with pinned output: what is equal, how a difference is shown, what is refused."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from harness.canonical import payloads as pl
from harness.cassette import CassetteError, Frame
from harness.conformance import CassetteResult, PinError, Report, check, write_expected
from harness.subject import InProcess
from tests.conformance import toy
from tests.conformance.broken.lifecycle import TalksAfterTheEnd


class Corpus:
    """A cassette of the toy's wire and what the correct normalizer gives for it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cassette = toy.write(root / "cassettes")
        self.file = self.pin()

    def pin(self, make: Any = toy.Normalizer) -> Path:
        return write_expected(
            toy.HEADER.id,
            cassettes=self.root / "cassettes",
            expected=self.root / "expected",
            subject=InProcess(make, "toy"),
            rules=toy.rules,
        )

    def check(self, make: Any = toy.Normalizer, names: Any = ()) -> Report:
        return check(
            names,
            cassettes=self.root / "cassettes",
            expected=self.root / "expected",
            subject=InProcess(make, "toy"),
            rules=toy.rules,
        )

    def one(self, make: Any = toy.Normalizer) -> CassetteResult:
        (result,) = self.check(make).cassettes
        return result

    def edit(self, number: int, change: Any) -> None:
        """Change the line of that number (from 1); None takes it out."""
        lines = self.file.read_bytes().splitlines(keepends=True)
        if change is None:
            del lines[number - 1]
        else:
            lines[number - 1] = change(lines[number - 1])
        self.file.write_bytes(b"".join(lines))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


def test_pinned_output_passes_and_reads_as_the_canonical_form(corpus: Corpus) -> None:
    assert corpus.check().exit_code == 0
    lines = corpus.file.read_bytes().splitlines()
    assert len(lines) == 19
    assert msgspec.json.decode(lines[3]) == {
        "type": "content.delta",
        "eventId": "evt-4",
        "provider": "codex",
        "sessionId": "ses-1",
        "payload": {"streamKind": "assistant_text", "delta": "Hello, "},
        "raw": {"source": "codex.app-server.notification", "frame": 4, "method": "say"},
        "threadId": "thr-1",
        "turnId": "trn-1",
        "itemId": "itm-1",
        "providerRefs": {"providerItemId": "native-a"},
    }


class OtherIds(toy.Normalizer):
    """Mints ids of another scheme."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.ledger.session = "the-session"
        mint = self.ledger.mint
        self.ledger.mint = lambda prefix: "own:" + mint(prefix)[::-1]  # type: ignore[method-assign]

    def feed(self, frame: Frame) -> Any:
        return [replace(e, eventId=f"{e.eventId}-x") for e in super().feed(frame)]


def test_any_minting_scheme_passes(corpus: Corpus) -> None:
    assert corpus.check(OtherIds).exit_code == 0


class OtherOrder(toy.Normalizer):
    """Builds its objects in another order, and is foreign: it gives objects."""

    def feed(self, frame: Frame) -> Any:
        return [_turned(msgspec.to_builtins(e)) for e in super().feed(frame)]


def _turned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _turned(v) for k, v in reversed(value.items())}
    return value


def test_the_order_of_keys_says_nothing(corpus: Corpus) -> None:
    assert corpus.check(OtherOrder).exit_code == 0
    corpus.edit(7, lambda line: msgspec.json.encode(_turned(msgspec.json.decode(line))) + b"\n")
    assert corpus.check().exit_code == 0


def test_a_last_line_without_its_line_feed_is_the_same(corpus: Corpus) -> None:
    corpus.file.write_bytes(corpus.file.read_bytes().rstrip(b"\n"))
    assert corpus.check().exit_code == 0


def test_one_changed_field_is_one_finding(corpus: Corpus) -> None:
    corpus.edit(12, lambda line: line.replace(b'"completed"', b'"failed"'))
    result = corpus.one()
    assert result.failed() == ["expected"]
    (violation,) = result.check("expected").violations
    assert (violation.frame, violation.kind) == (12, "done")
    assert (violation.event, violation.type) == (12, "turn.completed")
    assert violation.path == "payload.state"
    assert (violation.expected, violation.got) == ("'failed'", "'completed'")


@pytest.mark.parametrize("number", [1, 4, 9, 19])
def test_one_surplus_event_does_not_cascade(corpus: Corpus, number: int) -> None:
    taken = corpus.file.read_bytes().splitlines()[number - 1]
    corpus.edit(number, None)
    (violation,) = corpus.one().check("expected").violations
    assert (violation.event, violation.expected) == (number, "no such event")
    assert violation.type == msgspec.json.decode(taken)["type"]


def test_one_missing_event_does_not_cascade(corpus: Corpus) -> None:
    corpus.edit(11, lambda line: line + line.replace(b"something odd", b"and more"))
    (violation,) = corpus.one().check("expected").violations
    assert (violation.frame, violation.got) == (11, "no such event")
    assert "and more" in violation.expected


class SurplusItem(toy.Normalizer):
    """Makes an item of a note: the items after it have other numbers."""

    def on_note(self, data: dict[str, Any]) -> None:
        payload = pl.ItemLifecyclePayload("unknown")
        self.ledger.complete(self.ledger.start_item(self.turn, "n", payload), "completed")
        super().on_note(data)


def test_ids_that_are_only_renumbered_are_no_finding(corpus: Corpus) -> None:
    violations = corpus.one(SurplusItem).check("expected").violations
    assert [(v.type, v.expected) for v in violations] == [
        ("item.started", "no such event"),
        ("item.completed", "no such event"),
    ]


class WrongItem(toy.Normalizer):
    """Asks about another item, though that one is over."""

    def on_ask(self, data: dict[str, Any]) -> None:
        item = self.items["native-a"]
        item.open = True
        super().on_ask({**data, "itemId": "native-a"})
        item.open = False


def test_an_id_of_another_thing_is_a_finding(corpus: Corpus) -> None:
    (violation,) = corpus.one(WrongItem).check("expected").violations
    assert (violation.path, violation.expected, violation.got) == ("itemId", "'itm-2'", "'itm-1'")


def test_a_broken_line_is_named(corpus: Corpus) -> None:
    corpus.edit(5, lambda _line: b'{"type": "content.delta"}\n')
    report = corpus.check()
    assert report.exit_code == 4
    (result,) = report.cassettes
    assert result.verdict == "unusable"
    assert f"{corpus.file}:5: not a canonical event" in result.problem
    assert result.check("schema").status == "not-judged"


def test_a_file_that_is_no_json_is_named(corpus: Corpus) -> None:
    corpus.file.write_bytes(b"\xff\xfe")
    result = corpus.one()
    assert (result.verdict, corpus.check().exit_code) == ("unusable", 4)
    assert f"{corpus.file}:1: not a canonical event" in result.problem


def test_orphans_both_ways(corpus: Corpus) -> None:
    other = corpus.file.with_name("gone.jsonl")
    corpus.file.rename(other)
    report = corpus.check()
    assert report.exit_code == 4
    cassette, expected = report.cassettes
    assert (cassette.id, expected.id) == ("toy/toy-1.0/chat", "toy/toy-1.0/gone")
    assert "no expected output for this cassette" in cassette.problem
    assert "whose cassette is gone" in expected.problem
    assert cassette.failed() == []


def test_one_cassette_alone_is_not_held_to_orphans_of_others(corpus: Corpus) -> None:
    corpus.file.with_name("gone.jsonl").write_bytes(b"")
    assert corpus.check(names=["toy/toy-1.0/chat"]).exit_code == 0
    assert corpus.check(names=[corpus.cassette]).exit_code == 0


def test_a_truncated_cassette_is_named_and_never_pinned(corpus: Corpus) -> None:
    before = corpus.file.read_bytes()
    toy.write(corpus.root / "cassettes", toy.CHAT[:5], finished=False)
    report = corpus.check()
    assert report.exit_code == 4
    (result,) = report.cassettes
    assert (result.verdict, result.truncated, result.frames) == ("unusable", True, 5)
    assert "truncated after frame 5" in result.problem
    judged = {c.id: c.status for c in result.checks}
    assert judged["schema"] == "pass"
    assert judged["items"] == judged["turns"] == judged["accounted"] == "not-judged"
    with pytest.raises(PinError, match="truncated after frame 5"):
        corpus.pin()
    assert corpus.file.read_bytes() == before
    assert sorted(corpus.file.parent.iterdir()) == [corpus.file]


def test_a_truncated_cassette_can_still_fail(corpus: Corpus) -> None:
    toy.write(corpus.root / "cassettes", toy.CHAT[:14], finished=False)
    report = corpus.check(TalksAfterTheEnd)
    assert report.exit_code == 1
    assert report.cassettes[0].failed() == ["turns"]


def test_output_that_breaks_a_law_is_never_pinned(corpus: Corpus) -> None:
    before = corpus.file.read_bytes()
    with pytest.raises(PinError, match="turns fails at frame 12: expected nothing of a turn"):
        corpus.pin(TalksAfterTheEnd)
    assert corpus.file.read_bytes() == before
    assert sorted(corpus.file.parent.iterdir()) == [corpus.file]


def test_a_cassette_of_another_format_is_neither_judged_nor_pinned(corpus: Corpus) -> None:
    text = corpus.cassette.read_text("utf-8")
    corpus.cassette.write_text(text.replace('"cassette":1', '"cassette":2', 1), "utf-8")
    (result,) = corpus.check().cassettes
    assert (result.verdict, corpus.check().exit_code) == ("unusable", 4)
    assert "cassette format 2, and this harness reads 1" in result.problem
    with pytest.raises(CassetteError, match="cassette format 2"):
        corpus.pin()


def test_a_changed_cassette_is_unusable(corpus: Corpus) -> None:
    text = corpus.cassette.read_text("utf-8")
    corpus.cassette.write_text(text.replace("something odd", "something 0dd"), "utf-8")
    (result,) = corpus.check().cassettes
    assert result.verdict == "unusable"
    assert "checksum" in result.problem


def test_a_cassette_in_the_wrong_place_is_unusable(corpus: Corpus) -> None:
    corpus.cassette.rename(corpus.cassette.with_name("other.jsonl"))
    report = corpus.check(names=["toy/toy-1.0/other"])
    assert report.exit_code == 4
    assert "its header says toy/toy-1.0/chat" in report.cassettes[0].problem


def test_a_cassette_elsewhere_needs_no_expected_output(corpus: Corpus, tmp_path: Path) -> None:
    header = msgspec.structs.replace(toy.HEADER, scenario="own")
    path = toy.write(tmp_path / "elsewhere", header=header)
    report = corpus.check(names=[path])
    assert report.exit_code == 0
    assert report.cassettes[0].id == "toy/toy-1.0/own"


def test_an_unknown_name_is_answered_with_the_nearest(corpus: Corpus) -> None:
    report = corpus.check(names=["toy/toy-1.0/chad"])
    assert report.exit_code == 4
    assert report.cassettes[0].hint == "did you mean toy/toy-1.0/chat?"


def test_nothing_to_check_is_not_a_pass(tmp_path: Path) -> None:
    report = check(cassettes=tmp_path / "cassettes", expected=tmp_path / "expected")
    assert report.exit_code == 3


def test_selection_by_surface_and_scenario(corpus: Corpus) -> None:
    def count(**chosen: str) -> int:
        report = check(
            cassettes=corpus.root / "cassettes",
            expected=corpus.root / "expected",
            subject=InProcess(toy.Normalizer, "toy"),
            rules=toy.rules,
            **chosen,  # type: ignore[arg-type]
        )
        return len(report.cassettes)

    assert count(surface="toy", scenario="chat") == 1
    assert count(surface="other") == count(scenario="other") == 0


def test_pinning_again_changes_nothing_and_leaves_nothing(corpus: Corpus) -> None:
    before = corpus.file.read_bytes()
    assert corpus.pin() == corpus.file
    assert corpus.file.read_bytes() == before
    assert sorted(corpus.file.parent.iterdir()) == [corpus.file]


def test_a_folder_that_takes_no_file_is_an_error_in_words(tmp_path: Path) -> None:
    toy.write(tmp_path / "cassettes")
    (tmp_path / "expected").write_text("a file where a folder is due")
    with pytest.raises(PinError, match=r"could not pin .*; nothing was changed"):
        write_expected(
            toy.HEADER.id,
            cassettes=tmp_path / "cassettes",
            expected=tmp_path / "expected",
            subject=InProcess(toy.Normalizer, "toy"),
            rules=toy.rules,
        )
