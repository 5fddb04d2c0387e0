"""The isolated home and the workspace."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness.recording import home as homes
from harness.recording.errors import RecordError
from harness.recording.home import Home


def git(workspace: Path, *arguments: str) -> str:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *arguments],
        cwd=workspace,
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    ).stdout


def test_the_workspace_is_the_same_commit_each_time() -> None:
    commits = []
    for _ in range(2):
        with Home({"a.txt": "one\r\n", "sub/b.txt": "é\n"}, "m") as home:
            assert (home.workspace / "a.txt").read_bytes() == b"one\r\n"
            assert (home.workspace / "sub/b.txt").read_text("utf-8") == "é\n"
            assert git(home.workspace, "status", "--porcelain") == ""
            commits.append(git(home.workspace, "log", "--format=%H %an %ae %aI %D"))
    assert commits[0] == commits[1]
    assert commits[0].endswith(" Agent agent@localhost 2026-01-01T00:00:00+00:00 HEAD -> main\n")


def test_the_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "abc")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with Home({}, "m") as home:
        environment = home.environment({"MORE": "1"})
    assert set(environment) == {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TERM", "NO_COLOR",
        "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_DATE",
        "GIT_COMMITTER_DATE", "MORE", "HARNESS_RECORDING",
    }  # fmt: skip
    inside = {k for k, v in environment.items() if v.startswith(str(home.root))}
    assert inside == {k for k in environment if k.startswith("XDG_") or k in ("HOME", "TMPDIR")}


def test_nothing_is_left_whatever_an_agent_did_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Home({"a": "b"}, "m") as home:
        locked = home.home / "locked"
        (locked / "deep").mkdir(parents=True)
        (locked / "deep/file").write_text("x")
        (locked / "deep").chmod(0)
        locked.chmod(0o500)
        (home.home / "link").symlink_to("/")
        assert list(tmp_path.iterdir()) == [home.root]
    assert list(tmp_path.iterdir()) == []
    assert Path("/").exists()


def test_no_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(homes, "_path", lambda: str(tmp_path))
    with pytest.raises(RecordError, match="git is not installed") as caught:
        Home({}, "m")
    assert caught.value.code == 5
    assert list(tmp_path.iterdir()) == []


def test_no_folder_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(RecordError, match=r"making a temporary folder: .*; set TMPDIR") as caught:
        Home({}, "m")
    assert caught.value.code == 4
