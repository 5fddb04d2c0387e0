"""A signal ends a block as an exception does, and then the process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """\
import pathlib, signal, sys, tempfile
from harness.recording.terminable import unwinding
signal.signal(signal.{name}, signal.SIG_DFL)
with unwinding(), tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
    pathlib.Path(folder, "file").touch()
    signal.raise_signal(signal.{name})
    print("went on")
print("after")
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_the_block_is_left_cleanly_and_the_signal_then_does_what_it_does(
    tmp_path: Path, name: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(name=name), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.Signals[name], "", "")
    assert list(tmp_path.iterdir()) == []
