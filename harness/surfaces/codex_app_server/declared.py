"""The kinds that the installed Codex says it can send: the JSON Schema that it writes of itself."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

_PATIENCE: Final = 60.0

COMPLETE: Final = True
"""The schema names everything but what `BEYOND` matches."""

BEYOND: Final = (
    r"start|stderr|exit|(client )?noise|(response|error|client-response) unknown"
    r"|(repeat )?codex/event(/.*)?|repeat .*"
)
"""Kinds that are the harness's own, or of releases that the schema does not speak of."""


def declared(program: str) -> dict[str, bool]:
    """Return each kind of the agent's schema, and whether it is experimental.

    Raises OSError, subprocess.SubprocessError, and ValueError or KeyError where the schema has
    not the form that it should.
    """
    stable, whole = _schema(program), _schema(program, "--experimental")
    return {kind: kind not in stable for kind in sorted(whole)}


def _schema(program: str, *flags: str) -> set[str]:
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        subprocess.run(
            [program, "app-server", "generate-json-schema", *flags, "--out", folder],
            # A home of its own: even this writes into it.
            env={"HOME": folder, "CODEX_HOME": folder, "PATH": "/usr/bin:/bin"},
            check=True,
            capture_output=True,
            timeout=_PATIENCE,
        )
        notifications = _methods(folder, "ServerNotification")
        asked = _methods(folder, "ServerRequest")
        requests = _methods(folder, "ClientRequest")
        sent = requests | _methods(folder, "ClientNotification")
    kinds = set(notifications)
    kinds |= {f"{way} {m}" for m in asked for way in ("request", "client-response")}
    kinds |= {f"client {m}" for m in sent}
    return kinds | {f"{way} {m}" for m in requests for way in ("response", "error")}


def _methods(folder: str, name: str) -> set[str]:
    variants: list[Any] = json.loads(Path(folder, f"{name}.json").read_text("utf-8"))["oneOf"]
    return {variant["properties"]["method"]["enum"][0] for variant in variants}
