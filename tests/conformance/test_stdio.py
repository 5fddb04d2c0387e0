"""A normalizer behind a command is judged as the same one in this process is."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from harness.cassette import Frame
from harness.cli import main
from harness.conformance import CassetteResult, check, render_terminal
from harness.conformance.levels import Held
from harness.project import find_project
from harness.subject import InProcess, Limits, Stdio, SubjectError, is_command, load_command
from tests.conformance import splits, toy
from tests.conformance.broken import ALSO, BROKEN

ROOT = find_project(Path(__file__)).root
TEXT = "codex-exec/codex-0.163.0/text"
SERVE = f"{sys.executable} -m harness.subject.serve"
REFERENCE = f"{SERVE} harness.subject:reference"
LIMITS = Limits(seconds=20)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def judge(tmp_path: Path, command: str, frames: Any = toy.CHAT) -> CassetteResult:
    toy.write(tmp_path / "cassettes", frames)
    subject = load_command(command, LIMITS)
    try:
        report = check(
            cassettes=tmp_path / "cassettes", expected=None, subject=subject, rules=toy.rules
        )
        assert subject.stop() == ""
    finally:
        subject.end()
    (result,) = report.cassettes
    return result


def test_the_correct_one_passes_every_law(tmp_path: Path) -> None:
    result = judge(tmp_path, f"{SERVE} tests.conformance.toy:Normalizer")
    assert result.verdict == "pass"
    assert {c.status for c in result.checks} == {"pass"}
    assert result.check("split").status == "pass"
    assert (result.frames, result.events, result.fault) == (17, 19, "")


@pytest.mark.parametrize("kept", [True, False], ids=["sent-ahead", "as-it-is-read"])
@pytest.mark.parametrize("way", splits.WAYS)
def test_what_depends_on_the_split_breaks_that_law_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, kept: bool
) -> None:
    if not kept:
        monkeypatch.setattr(sys.modules["harness.conformance.check"], "SMALL", 0)
    result = judge(tmp_path, f"{sys.executable} -m tests.conformance.splits {way}")
    # What is left of a message that came in pieces is no answer, or awaited in vain.
    stops = {"ignores-pieces", "loses-the-rest"}
    assert result.failed() == [*(["subject"] if way in stops else []), "split"], result
    violations = result.check("split").violations
    assert violations
    assert all(v.law == "split" and v.hint.startswith("read up to a line feed") for v in violations)
    assert result.check("apart").note == "the law `split` is broken"


_LAWS = [
    (law, fault, make)
    for law, fault, make in BROKEN
    # One is another from run to run of one process; the other's events are right once written.
    if fault not in {"loses-an-event", "plain-payload"}
]
_MORE = {
    # What is no event ends no turn.
    "unknown-state": {"turns"},
    # Which of two frames with one content an event of the end is of, no value tells.
    "waits-for-the-end": {"accounted", "clock"},
}
"""What a fault breaks besides where events are JSON."""


def _params() -> Iterator[Any]:
    """Each law's first fault in the default run; in this process each fault is in it anyway."""
    seen = set[str]()
    for law, fault, make in _LAWS:
        marks = [pytest.mark.slow] if law in seen else []
        seen.add(law)
        yield pytest.param(law, fault, make, marks=marks, id=f"{law}-{fault}")


@pytest.mark.parametrize(("law", "fault", "make"), list(_params()))
def test_a_fault_breaks_the_same_law_as_in_this_process(
    tmp_path: Path, law: str, fault: str, make: Any
) -> None:
    frames = getattr(make, "FRAMES", toy.CHAT)
    result = judge(tmp_path, f"{SERVE} {make.__module__}:{make.__qualname__}", frames)
    assert set(result.failed()) == {law} | ALSO.get(fault, set()) | _MORE.get(fault, set())
    assert result.fault == "subject"


def test_the_corpus_passes_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--surface", "acp", "--normalizer", REFERENCE, "--json"]) == 0
    value = msgspec.json.decode(capsys.readouterr().out)
    assert value["summary"]["fail"] == 0
    assert value["summary"]["pass"] > 100
    assert value["claims"]["language"] == "python"
    assert value["problem"] == ""


def test_a_replay_prints_what_the_reference_gives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", TEXT]) == 0
    due = capsys.readouterr().out
    assert main(["replay", TEXT, "--normalizer", REFERENCE]) == 0
    assert capsys.readouterr().out == due


def test_a_long_cassette_is_sent_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["harness.conformance.check"], "SMALL", 0)
    frames = [*toy.CHAT[:3], *({**toy.CHAT[3], "text": f"{n} é"} for n in range(700))]
    result = judge(tmp_path, f"{SERVE} tests.conformance.toy:Normalizer", frames)
    assert {c.id for c in result.checks if c.status != "pass"} == set()
    assert result.frames == 703


class DiesInATurn(toy.Normalizer):
    def close(self) -> Iterable[Any]:
        if self.turn is not None and self.turn.open:
            os._exit(9)
        return super().close()


def test_a_run_that_ends_the_process_is_no_leak_into_the_other(tmp_path: Path) -> None:
    result = judge(tmp_path, f"{SERVE} {__name__}:DiesInATurn")
    assert result.failed() == ["subject"]
    (violation,) = result.check("subject").violations
    assert "crashed: it ended with exit code 9" in violation.got
    assert violation.expected == (
        "feed(frame 11) of a second run, or of the other in turns with it without an error, as in "
        "the first run"
    )
    assert result.check("apart").note == "the normalizer stopped in a rerun"
    assert result.check("prefix").status == "not-judged"


class GivesJunk(toy.Normalizer):
    """Gives, beside events, what is none."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        events = list(super().feed(frame))
        return [*events, {"type": "turn.done"}] if frame.data["kind"] == "note" else events


def test_what_is_no_event_is_one_finding_and_the_others_are_judged(tmp_path: Path) -> None:
    result = judge(tmp_path, f"{SERVE} {__name__}:GivesJunk")
    assert result.failed() == ["schema"]
    (violation,) = result.check("schema").violations
    assert (violation.frame, violation.got) == (11, """'{"type":"turn.done"}'""")
    assert violation.expected == "Invalid value 'turn.done'"
    assert result.events == 20


class Claims(toy.Normalizer):
    surfaces: ClassVar[list[str]] = ["codex-exec"]
    levels: ClassVar[list[str]] = ["schema"]
    version = "1.2.3"


@pytest.mark.parametrize("behind", [True, False])
def test_what_is_not_claimed_is_not_run_and_no_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], behind: bool
) -> None:
    spec = f"{__name__}:Claims"
    toy.write(tmp_path / "cassettes")
    spec = f"{SERVE} {spec}" if behind else spec
    assert main(["--root", str(tmp_path), "check", "--normalizer", spec]) == 3
    out = capsys.readouterr().out
    assert "1 cassettes not claimed, and not run: toy 1" in out
    assert "held to schema (claimed)" in out
    assert "1.2.3 python" in out


@pytest.mark.parametrize(
    ("levels", "failed"),
    [
        (("schema",), []),
        (("coverage",), ["accounted"]),
        (("laws",), ["raw"]),
        (("expected",), []),
        (("schema", "laws", "expected", "coverage"), ["accounted", "raw"]),
    ],
)
def test_a_level_is_some_checks(tmp_path: Path, levels: Any, failed: list[str]) -> None:
    class DropsAndParses(toy.Normalizer):
        def on_note(self, data: dict[str, Any]) -> None:
            pass

        def feed(self, frame: Frame) -> Iterable[Any]:
            for event in super().feed(frame):
                raw = msgspec.structs.replace(event.raw, payload="other")
                other = event.type == "turn.started"
                yield msgspec.structs.replace(event, raw=raw) if other else event

    toy.write(tmp_path / "cassettes")
    report = check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(DropsAndParses, "toy"),
        rules=toy.rules,
        held=Held(levels, "--level"),
    )
    (result,) = report.cassettes
    assert result.failed() == failed
    assert result.verdict == ("fail" if failed else "pass")
    assert report.held == levels
    assert "subject" in {c.id for c in result.checks}


def test_the_command_line_and_the_file_choose_levels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "harness.toml"
    config.write_text(
        '[subject]\nnormalizer = "tests.conformance.toy:Normalizer"\n'
        'levels = ["expected"]\nsurfaces = ["toy"]\ntime-limit = 3\n'
    )
    root = ["--root", str(ROOT), "check", TEXT]
    assert main(root) == 3
    out = capsys.readouterr().out
    assert "held to expected (harness.toml)" in out
    assert "codex-exec 1" in out
    assert main([*root, "--level", "schema", "--level", "coverage"]) == 3
    assert "held to schema, coverage (--level)" in capsys.readouterr().out
    for text, said in (
        ("[subject]\nlevel = 3\n", "unknown field `level`"),
        ("[subject\n", "harness.toml: "),
        ("[subject]\nlevels = ['all']\n", "Invalid enum value 'all'"),
        ("[subject]\ntime-limit = 0\n", "Expected `float` > 0"),
    ):
        config.write_text(text)
        assert main(root) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ("package.module:name", False),
        ("module:a.b", False),
        ("module", True),
        ("node dist/normalizer.js", True),
        ("package.module:name --flag", True),
        ("./normalizer", True),
        ("a-b:c", True),
        ("a:b:c", True),
        (":", True),
    ],
)
def test_a_command_is_what_has_not_the_form_of_a_name(spec: str, command: bool) -> None:
    assert is_command(spec) is command


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("no-such-program --x", "there is no program 'no-such-program'; write it as package.mod"),
        ("A=1 node x.js", "no shell reads it: write `env NAME=VALUE COMMAND`"),
        ("node 'x", "No closing quotation"),
        ("no_colon", "write it as package.module:name"),
    ],
)
def test_a_command_that_does_not_exist_ends_with_5(
    capsys: pytest.CaptureFixture[str], spec: str, said: str
) -> None:
    assert main(["check", TEXT, "--normalizer", spec]) == 5
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--time-limit=0", "--time-limit=x", "--memory-limit=-1"])
def test_a_limit_is_a_number(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", TEXT, option])
    assert ended.value.code == 2
    assert "is needed" in capsys.readouterr().err


def test_a_fault_of_the_harness_is_called_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Any) -> None:
        raise ZeroDivisionError("a law is wrong")

    monkeypatch.setattr("harness.conformance.laws.turns.Turns.end", broken)
    toy.write(tmp_path / "cassettes")
    report = check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(toy.Normalizer, "toy"),
        rules=toy.rules,
    )
    (result,) = report.cassettes
    assert (result.verdict, result.fault, report.exit_code) == ("unusable", "harness", 4)
    assert "the harness failed, not the normalizer: ZeroDivisionError: a law" in result.problem
    assert "at fault: the harness" in render_terminal(report)


class ClaimsAll(toy.Normalizer):
    levels: ClassVar[list[str]] = ["all"]


def test_a_level_that_is_none_is_no_claim(capsys: pytest.CaptureFixture[str]) -> None:
    for spec in (f"{__name__}:ClaimsAll", f"{SERVE} {__name__}:ClaimsAll"):
        assert main(["check", TEXT, "--normalizer", spec]) == 5
        assert "it claims the levels all; there are schema, laws," in capsys.readouterr().err


class FailsAtSix(toy.Normalizer):
    def feed(self, frame: Frame) -> Iterable[Any]:
        if frame.seq == 6:
            raise ValueError("six")
        return super().feed(frame)


def test_its_own_failure_names_the_frame_and_shows_the_trace(tmp_path: Path) -> None:
    result = judge(tmp_path, f"{SERVE} {__name__}:FailsAtSix")
    assert result.failed() == ["subject"]
    (violation,) = result.check("subject").violations
    assert violation.got == "failed: at frame 6: ValueError: six"
    assert 'raise ValueError("six")' in result.stderr


def sleeper(folder: Path) -> Path:
    """A normalizer that says its pid, starts a child, and never answers a frame."""
    script = folder / "sleeper.py"
    script.write_text(
        "import json, os, sys, time\n"
        "for line in sys.stdin:\n"
        "    r = json.loads(line)\n"
        "    if r['cmd'] == 'start':\n"
        "        print(json.dumps({'id': 1, 'protocol': 1, 'name': 's', 'version': '1',\n"
        "                          'language': 'python'}), flush=True)\n"
        "    elif os.fork() == 0: time.sleep(600)\n"
        "    else:\n"
        f"        open({str(folder / 'pid')!r}, 'w').write(str(os.getpid()) + '\\n')\n"
        "        time.sleep(600)\n"
    )
    return script


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_all_that_it_started(tmp_path: Path, number: signal.Signals) -> None:
    command = f"{sys.executable} {sleeper(tmp_path)}"
    harness = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "check", TEXT, "--normalizer", command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    pid = tmp_path / "pid"
    until = time.monotonic() + 20
    while not (pid.is_file() and pid.read_text().endswith("\n")) and time.monotonic() < until:
        time.sleep(0.01)
    session = int(pid.read_text())
    harness.send_signal(number)
    harness.communicate(timeout=20)
    assert harness.returncode == (130 if number == signal.SIGINT else -number)
    from tests.conformance.test_stdio_hostile import gone

    assert gone(session)


def test_one_that_nobody_stopped_is_ended_with_what_held_it() -> None:
    subject = Stdio(REFERENCE, LIMITS)
    subject.begin()
    pid = subject.pid
    del subject
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_start_that_fails_leaves_nothing(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("import os, sys\nprint(os.getpid(), file=sys.stderr)\nprint('hello')\n")
    with pytest.raises(SubjectError) as caught:
        load_command(f"{sys.executable} {script}", LIMITS)
    with pytest.raises(ProcessLookupError):
        os.kill(int(str(caught.value).split()[-1]), 0)
