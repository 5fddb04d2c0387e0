"""`accept` that cannot write, or is ended in the middle: exit code 4, and no half file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.conformance import PinError, write_expected
from harness.subject import InProcess
from tests.conformance import toy

_LIMITED = """
import resource, signal, sys
from harness.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""

ID = "codex-exec/codex-0.163.0/text"


@pytest.mark.parametrize("room", [0, 100, 1000])
def test_no_room_is_an_unusable_file(tmp_path: Path, room: int) -> None:
    cassette = Path("cassettes") / f"{ID}.jsonl"
    (tmp_path / cassette).parent.mkdir(parents=True)
    (tmp_path / cassette).write_bytes((Path(__file__).parents[2] / cassette).read_bytes())
    ended = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(room), "--root", str(tmp_path), "accept"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ended.returncode == 4, ended.stderr
    assert f"could not pin {tmp_path}/expected/{ID}.jsonl: File too large" in ended.stdout
    assert ended.stderr == ""
    assert [p for p in (tmp_path / "expected").rglob("*") if p.is_file()] == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    toy.write(tmp_path / "cassettes")
    (tmp_path / "expected").write_text("in the way")
    with pytest.raises(PinError, match=r"could not pin .*; nothing was changed") as caught:
        write_expected(
            toy.HEADER.id,
            cassettes=tmp_path / "cassettes",
            expected=tmp_path / "expected",
            subject=InProcess(toy.Normalizer, "toy"),
            rules=toy.rules,
        )
    assert caught.value.code == 4


_ENDED = """
import os, signal, sys
from pathlib import Path
from harness.conformance import write_expected
from harness.subject import InProcess
from tests.conformance import toy

class Ends(toy.Normalizer):
    def on_done(self, data):
        os.kill(os.getpid(), signal.SIGTERM)

root = Path(sys.argv[1])
write_expected(toy.HEADER.id, cassettes=root / "cassettes", expected=root / "expected",
    subject=InProcess(Ends, "ends"), rules=toy.rules)
"""

_ENDED_AT_THE_COPY = """
import os, signal, sys
from pathlib import Path
from harness.conformance import write_expected
from harness.subject import InProcess
from tests.conformance import toy

def fsync(descriptor):
    assert list(root.rglob("*.jsonl.part"))
    os.kill(os.getpid(), signal.Signals[sys.argv[2]])

root = Path(sys.argv[1])
os.fsync = fsync
write_expected(toy.HEADER.id, cassettes=root / "cassettes", expected=root / "expected",
    subject=InProcess(toy.Normalizer, "toy"), rules=toy.rules)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_ended_while_it_copies_it_leaves_nothing(tmp_path: Path, name: str) -> None:
    toy.write(tmp_path / "cassettes")
    ended = subprocess.run(
        [sys.executable, "-c", _ENDED_AT_THE_COPY, str(tmp_path), name],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.DEVNULL,
        check=False,
    )
    assert ended.returncode == -signal.Signals[name]
    assert [p for p in (tmp_path / "expected").rglob("*") if p.is_file()] == []


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="needs files without a name")
def test_ended_while_it_judges_it_leaves_nothing(tmp_path: Path) -> None:
    toy.write(tmp_path / "cassettes")
    ended = subprocess.run(
        [sys.executable, "-c", _ENDED, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert ended.returncode == -signal.SIGTERM
    assert [p for p in (tmp_path / "expected").rglob("*") if p.is_file()] == []
