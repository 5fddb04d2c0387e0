"""`harness new normalizer`: a folder with a normalizer that runs, and is judged, as it is."""

import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from harness import output as out
from harness.canonical.typescript import typescript
from harness.folders import filling, free
from harness.project import ProjectError, find_project
from harness.surfaces import surface as known_surface

Language = Literal["ts", "python"]

SURFACES: Final = {
    "codex-exec": ("codex.sdk.thread-event", "codex-exec/codex-0.163.0/text"),
    "codex-app-server": ("codex.app-server.notification", "codex-app-server/codex-0.163.0/text"),
    "claude-sdk": ("claude.sdk.message", "claude-sdk/claude-code-2.1.332/text"),
    "acp": ("acp.notification", "acp/gemini-cli-0.61.0/text"),
    "cursor-acp": ("cursor.acp.notification", "cursor-acp/cursor-2026.08.11/text"),
    "opencode": ("opencode.event", "opencode/opencode-1.18.33/text"),
}
"""For some surfaces, what an event of it usually has as `raw.source`, and a short cassette."""

_NAME, _SURFACE = "my-normalizer", "codex-exec"
"""Stand in the templates for a folder's own name, and for its surface."""


def new_command(folder: Path, language: Language, surface: str, *, json: bool) -> int:
    """Write a start and say what comes next; return the exit code. See `new_normalizer`."""
    written = new_normalizer(folder, language, surface)
    if json:
        out.say_json({"folder": str(folder), "files": written})
    else:
        for name in written:
            out.say(str(folder / name))
        out.say(f"now: cd {shlex.quote(str(folder))} && harness check")
    return out.OK


def new_normalizer(folder: Path, language: Language, surface: str = _SURFACE) -> list[str]:
    """Write the start of a normalizer of a surface into a new or an empty folder, all or nothing.

    Return the names of its files. Raises UsageError for a folder that is none or is not empty,
    SurfaceError for an unknown surface.
    """
    known_surface(surface)
    texts = _texts(language, _named(folder), surface)
    free(folder, f"writing a normalizer into {folder}")
    with filling(folder) as part:
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8", newline="\n")
    return sorted(texts)


def _shown(surface: str) -> tuple[str, str]:
    """As `SURFACES`, of any: one that it does not name is shown by the first of its cassettes."""
    if surface in SURFACES:
        return SURFACES[surface]
    try:
        project = find_project()
    except ProjectError:
        paths = []
    else:
        paths = [p for p in project.cassette_paths() if p.parent.parent.name == surface]
    texts = [path for path in paths if path.stem == "text"]
    shown = [project.cassette_id(path) for path in [*texts, *paths]]
    return "process.stdout", next(iter(shown), f"{surface}/AGENT/text")


def _named(folder: Path) -> str:
    """A name for the normalizer that is plain in every language: its folder's, or near to it."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", folder.resolve().name.lower()).strip("-._")
    return plain or _NAME


def _texts(language: Language, name: str, surface: str) -> dict[str, str]:
    """The files by name."""
    texts = {
        each.name: each.read_text(encoding="utf-8")
        for each in files("harness.start").joinpath("templates", language).iterdir()
        if each.is_file()
    }
    own = {
        **dict(zip(SURFACES[_SURFACE], _shown(surface), strict=True)),
        _SURFACE: surface,
        _NAME: name,
    }
    # At one go: what is put in is not looked into again.
    places = re.compile("|".join(map(re.escape, own)))
    texts = {file: places.sub(lambda found: own[found[0]], text) for file, text in texts.items()}
    if language == "ts":
        texts["canonical.ts"] = typescript()
    return texts
