"""`matrix/index.html`: the matrix, its evidence and the whole corpus, in one file that asks nobody.

The tables are in the page as markup; the corpus is in it compressed, and is unpacked at a click.
Everything that comes from a frame is text: the engine escapes it, the script sets it as text, and
the page's own policy lets no other script run and nothing be fetched.
"""

import base64
import gzip
import hashlib
import re
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.cassette.show import printable
from harness.matrix.model import Matrix
from harness.matrix.page.pack import Tape, bundles, compressed, tape
from harness.matrix.page.view import context, index, sides
from harness.project import Project

PAGE: Final = "index.html"
"""The page's name under `matrix/`."""

_HERE: Final = Path(__file__).parent
_STYLES: Final = ("base.css", "tables.css", "cassette.css")
_SCRIPTS: Final = (
    "dom.js",
    "json.js",
    "store.js",
    "grid.js",
    "filter.js",
    "panel.js",
    "cells.js",
    "rows.js",
    "cassette.js",
    "scenario.js",
    "views.js",
    "search.js",
    "main.js",
)
"""In the order in which they build on each other."""

_VIEWS: Final = ("cassettes", "scenarios", "native", "canonical", "laws")
"""The lists: markup like the tables', but unpacked when they are first looked at."""

_BLOB: Final = re.compile(
    rb'(<script type="text/plain" data-blob="\w+">)([A-Za-z0-9+/=]*)</script>'
)


def page(matrix: Matrix, project: Project) -> bytes:
    """Return the page. Raises CassetteError where a cassette of the matrix cannot be read."""
    tapes = {entry.id: _tape(project, entry.id) for entry in matrix.cassettes}
    packed = list(bundles(tapes.values()))
    style = "\n".join((_HERE / "static" / name).read_text("utf-8") for name in _STYLES)
    script = "\n".join((_HERE / "static" / name).read_text("utf-8") for name in _SCRIPTS)
    engine = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    engine.filters["shown"] = lambda value: printable(str(value))
    values = context(matrix)
    views = {name: engine.get_template(f"{name}.html").render(**values) for name in _VIEWS}
    text = engine.get_template("page.html").render(
        **values,
        views={name: compressed(view.encode()) for name, view in views.items()},
        # These two are the project's own files: the only text that is not escaped.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        style_hash=_hash(style),
        script_hash=_hash(script),
        index=compressed(index(matrix, packed)),
        sides=compressed(sides(matrix)),
        bundles=[bundle.data for bundle in packed],
    )
    return text.encode()


def same(path: Path, content: bytes) -> bool:
    """Return whether a file says the same as a page, whichever zlib compressed either."""
    try:
        return _plain(path.read_bytes()) == _plain(content)
    except OSError:
        return False


def _plain(content: bytes) -> bytes:
    def unpacked(found: re.Match[bytes]) -> bytes:
        try:
            return found[1] + gzip.decompress(base64.b64decode(found[2]))
        except (ValueError, OSError, EOFError):
            return found[0]

    return _BLOB.sub(unpacked, content)


def _tape(project: Project, cassette: str) -> Tape:
    return tape(project.cassettes / f"{cassette}.jsonl")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
