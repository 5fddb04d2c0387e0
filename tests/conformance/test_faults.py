"""What a subject does wrong in any run, however it does it, is a failure under `subject`."""

import sys
from pathlib import Path
from typing import Any

import pytest

from harness.conformance import check
from harness.conformance.known import Failure, Known
from harness.conformance.levels import Held
from harness.project import find_project
from harness.subject import Limits, load_command
from tests.conformance import toy

ROOT = find_project(Path(__file__)).root


_AGAIN = """
import os, sys, time, json
from harness.subject.serve import Server
from tests.conformance import toy

served = Server(toy.Normalizer, {"name": "toy", "version": "1", "language": "python"})
for line in sys.stdin.buffer:
    asked, answer = json.loads(line), served.answer(line)
    # The first conversation of a cassette is served, and no other.
    if asked["cmd"] in {"frames", "close"} and int(asked["conversation"]) % 3 != 1:
        match sys.argv[1]:
            case "crashes": os.abort()
            case "exits": os._exit(0)
            case "hangs": time.sleep(1000)
            case "prints": os.write(1, b"junk\\n")
            case "fails": answer = b'{"id":%d,"error":{"message":"no"}}\\n' % asked["id"]
    os.write(1, answer)
    if served.stopped:
        break
"""


@pytest.mark.parametrize("level", ["schema", "laws", "expected", "coverage"])
@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("crashes", "crashed: it ended with SIGABRT"),
        ("exits", "ended: it ended (exit code 0)"),
        ("hangs", "hung: no answer within 2 s"),
        ("prints", "junk: no answer to `frames`"),
        ("fails", "failed: no"),
    ],
)
def test_a_rerun_that_goes_wrong_fails_at_every_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, said: str, level: Any
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    if way == "hangs" and level in {"laws", "expected"}:
        pytest.skip("two levels are enough to wait for")
    script = tmp_path / "again.py"
    script.write_text(_AGAIN)
    toy.write(tmp_path / "cassettes")
    subject = load_command(f"{sys.executable} {script} {way}", Limits(seconds=2))
    try:
        report = check(
            cassettes=tmp_path / "cassettes",
            expected=None,
            subject=subject,
            rules=toy.rules,
            held=Held((level,), "--level"),
        )
    finally:
        subject.end()
    (result,) = report.cassettes
    assert report.exit_code == 1
    assert "subject" in result.failed()
    violation = result.check("subject").violations[0]
    assert said in violation.got
    assert "of a second run, " in violation.expected
    # What is known of another check excuses none of it.
    for listed in ("split", "deterministic", "prefix", "apart"):
        Known(Path("known-failures.toml"), [Failure(result.id, listed, "later")]).apply(result)
    assert result.verdict == "fail"
