"""`fs/*`, served for real: text files of the workspace, and of nowhere else."""

import re
from pathlib import Path
from typing import Any, Final

from harness.surfaces.acp.names import Message

INVALID: Final = -32602
NOT_FOUND: Final = -32002
UNKNOWN: Final = -32601


class RefusedError(Exception):
    """A request that is answered with an error: its JSON-RPC code, and why."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


def serve(method: str, params: Message, workspace: str) -> Any:
    """Return the result of `fs/read_text_file` or `fs/write_text_file`. Raises RefusedError."""
    path = inside(params.get("path"), workspace)
    try:
        if method == "fs/read_text_file":
            # Not `read_text`: it would change the ends of lines.
            return {"content": _lines(path.read_bytes().decode("utf-8"), params)}
        if method != "fs/write_text_file":
            raise RefusedError(UNKNOWN, f"this client does not know {method}")
        content = params.get("content")
        if not isinstance(content, str):
            raise RefusedError(INVALID, "content is not a text")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8", newline="")
    except FileNotFoundError:
        # The protocol's own words: agents know them, and create what is not there.
        raise RefusedError(NOT_FOUND, f"Resource not found: {path}") from None
    except (OSError, UnicodeError) as error:
        raise RefusedError(INVALID, f"{path}: {error}") from None
    return {}


def inside(value: Any, workspace: str) -> Path:
    """Return the real path of one in the workspace; links out of it are outside too."""
    if not isinstance(value, str) or not Path(value).is_absolute():
        raise RefusedError(INVALID, "path is not absolute")
    try:
        path, root = Path(value).resolve(), Path(workspace).resolve()
    except (OSError, RuntimeError, ValueError):
        raise RefusedError(INVALID, "path cannot be resolved") from None
    if not path.is_relative_to(root):
        raise RefusedError(INVALID, "path is outside the workspace")
    return path


def _lines(content: str, params: Message) -> str:
    """Cut to `limit` lines from `line`, which counts from 1."""
    line, limit = params.get("line"), params.get("limit")
    first = line - 1 if type(line) is int and line > 0 else 0
    last = first + limit if type(limit) is int and limit >= 0 else None
    if not first and last is None:
        return content
    # Not `splitlines`: a line ends at a line feed alone.
    return "".join(re.findall(r"[^\n]*\n|[^\n]+", content)[first:last])
