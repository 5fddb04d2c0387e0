"""An empty home and a fresh workspace for one recording, and the environment to go with them."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.recording.errors import RecordError
from harness.recording.strays import MARKER

KEY = "scripted-key-not-a-secret-0451"
"""The only key that an agent gets. No text says it by chance, so finding it means a leak."""

_SEARCH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_WHEN = "2026-01-01T00:00:00Z"
_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Agent",
    "GIT_AUTHOR_EMAIL": "agent@localhost",
    "GIT_COMMITTER_NAME": "Agent",
    "GIT_COMMITTER_EMAIL": "agent@localhost",
    "GIT_AUTHOR_DATE": _WHEN,
    "GIT_COMMITTER_DATE": _WHEN,
}


class Home:
    """A temporary folder with `home/` and `workspace/`, removed at the end of the `with` block.

    The workspace is a git repository with the scenario's files in one commit, the same in each
    recording. `mark` is the recording's id, which all processes of it inherit; `root` is an empty
    folder that is there already, and goes in the end.

    Raises RecordError (5) where git is missing, (4) where there is no room for the files.
    """

    def __init__(self, files: Mapping[str, str], mark: str, root: Path | None = None) -> None:
        self._mark = mark
        try:
            self.root = root or Path(os.path.realpath(tempfile.mkdtemp(prefix="harness-")))
        except OSError as error:
            raise RecordError(4, f"making a temporary folder: {error}; set TMPDIR") from error
        self.home = self.root / "home"
        self.workspace = self.root / "workspace"
        try:
            self._fill(files)
        except BaseException:
            self.remove()
            raise

    def environment(self, more: Mapping[str, str], search: tuple[str, ...] = ()) -> dict[str, str]:
        """Return the whole environment of the agent. Nothing is inherited.

        `search` are folders to have first in PATH.
        """
        home = str(self.home)
        return {
            "PATH": os.pathsep.join([*search, _path()]),
            "HOME": home,
            "USER": "agent",
            "LOGNAME": "agent",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "TMPDIR": f"{home}/tmp",  # noqa: S108 - its own
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "XDG_RUNTIME_DIR": f"{home}/run",
            **_GIT,
            **more,
            MARKER: self._mark,
        }

    def remove(self) -> None:
        """Remove the folder and all in it, whatever its permissions."""
        for _ in range(5):  # a process that was just killed may still have been writing
            shutil.rmtree(self.root, onerror=_make_writable)
            if not self.root.exists():
                return

    def _fill(self, files: Mapping[str, str]) -> None:
        try:
            for folder in ("tmp", "run", ".config", ".local/share", ".local/state", ".cache"):
                (self.home / folder).mkdir(parents=True, exist_ok=True)
            (self.home / "run").chmod(0o700)
            self.workspace.mkdir()
            for name, text in files.items():
                path = self.workspace / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8", newline="")
        except OSError as error:
            raise RecordError(
                4,
                f"writing the scenario's files: {error.strerror}; free the disk",
            ) from error
        for arguments in (
            ["init", "--quiet", "--template=", "--initial-branch=main"],
            ["add", "--all"],
            ["commit", "--quiet", "--allow-empty", "--no-verify", "--message=The beginning"],
        ):
            self._git(arguments)

    def _git(self, arguments: list[str]) -> None:
        try:
            subprocess.run(
                ["git", *arguments],
                cwd=self.workspace,
                env={"PATH": _path(), "HOME": str(self.home), **_GIT},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=True,
            )
        except FileNotFoundError as error:
            raise RecordError(5, "making the workspace: git is not installed") from error
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip()
            raise RecordError(4, f"making the workspace: git {arguments[0]}: {said}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def _path() -> str:
    """Return the usual folders, and the ones that git and bash are in where those are others."""
    folders = list(_SEARCH)
    for program in ("git", "bash"):
        found = shutil.which(program)
        if found and not shutil.which(program, path=os.pathsep.join(folders)):
            folders.append(str(Path(found).parent))
    return os.pathsep.join(folders)


def _make_writable(function: Callable[[str], Any], path: str, _: Any) -> None:
    for target in (Path(path).parent, Path(path)):
        try:
            if not target.is_symlink():
                target.chmod(target.stat().st_mode | stat.S_IRWXU)
        except OSError:
            return
    try:
        if function in (os.unlink, os.rmdir):
            function(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return
