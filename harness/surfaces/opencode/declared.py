"""The events that the installed opencode says it can send: the OpenAPI document of its server."""

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from typing import Any, Final

_PATIENCE: Final = 60.0
_EXPERIMENTAL: Final = "session.next."

COMPLETE: Final = True
"""The document names every event but what `BEYOND` matches; of routes it is not asked."""

BEYOND: Final = (
    r"start|stdout|stderr|exit|noise|comment|incomplete|repeat .*|client noise"
    r"|(client|response|error) .*"
    r"|message\.(part\.)?updated unknown|message\.updated user diff"
    r"|message\.part\.updated tool output"
    r"|server\.heartbeat|lsp\.client\.diagnostics|permission\.updated|session\.permission\..*"
)
"""Kinds that are the harness's own, routes, and events of releases before the document's."""


def declared(program: str) -> dict[str, bool]:
    """Return each kind of event in the server's document, and whether it is experimental.

    Raises OSError, subprocess.SubprocessError, and ValueError or KeyError where the document
    has not the form that it should.
    """
    with (
        tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True) as home,
        _server(program, home) as url,
    ):
        schemas = _document(url)["components"]["schemas"]
    parts, roles = _types(schemas, "Part", "type"), _types(schemas, "Message", "role")
    more = {"message.part.updated": parts, "message.updated": roles}
    found: dict[str, bool] = {}
    for kind in _types(schemas, "Event", "type"):
        names = [f"{kind} {which}" for which in more[kind]] if kind in more else [kind]
        found |= dict.fromkeys(names, kind.startswith(_EXPERIMENTAL))
    return found


def _types(schemas: dict[str, Any], name: str, field: str) -> list[str]:
    """Return the values of the field that tells the variants of a type apart."""
    variants = [schemas[v["$ref"].rpartition("/")[2]] for v in schemas[name]["anyOf"]]
    fields = [variant["properties"][field] for variant in variants]
    return [f["const"] if "const" in f else f["enum"][0] for f in fields]


def _document(url: str) -> dict[str, Any]:
    # A proxy of the environment's has no part in a question to loopback.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/doc", timeout=_PATIENCE) as answer:
        document: dict[str, Any] = json.load(answer)
    return document


@contextlib.contextmanager
def _server(program: str, home: str) -> Iterator[str]:
    """Run the server in a home of its own; yield its address, and end it with its group."""
    process = subprocess.Popen(
        [program, "serve", "--port", "0", "--pure"],
        env={
            "HOME": home,
            "PATH": os.defpath,
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "npm_config_registry": "http://127.0.0.1:9",
        },
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    with process:
        try:
            yield _address(process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    end = time.monotonic() + _PATIENCE
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not (found := re.search(rb"listening on (http://\S+)\n", said)):
            left = end - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise subprocess.TimeoutExpired(process.args, _PATIENCE)
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                process.wait()
                raise subprocess.CalledProcessError(process.returncode, process.args, stderr=said)
            said += data
    return found[1].decode()
