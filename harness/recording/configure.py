"""Writes what a manifest's entry says an agent needs: files, variables, arguments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from harness.recording.errors import RecordError
from harness.surfaces.base import Preparation, Setup
from harness.surfaces.registry import AgentSource


def configure(source: AgentSource, setup: Setup) -> tuple[Setup, dict[str, str]]:
    """Write the agent's files; return the setup with its arguments and options, and its variables.

    Raises RecordError (2) for a file outside the home and the workspace, (4) where one cannot be
    written.
    """
    more = source.asking if setup.scenario.permissions == "ask" else source.automatic
    whole = _filled(_joined(source.prepare, more), setup)
    for name, content in whole.files.items():
        _write(source, name, content, setup)
    for name, content in _commands(whole, setup).items():
        _write(source, name, content, setup)
    setup = structs.replace(setup, agent=source.name, args=whole.args, options=whole.options)
    return setup, dict(whole.env)


def _joined(first: Preparation, more: Preparation) -> Preparation:
    return Preparation(
        args=first.args + more.args,
        env={**first.env, **more.env},
        files=_merged(first.files, more.files),
        options=_merged(first.options, more.options),
        commands={**first.commands, **more.commands},
    )


def _commands(whole: Preparation, setup: Setup) -> dict[str, str]:
    """Return the files of the scenario's commands, by path."""
    found: dict[str, str] = {}
    for turn in setup.scenario.turns:
        for path, body in whole.commands.items() if turn.command else ():
            name, text = (
                part.replace("{name}", turn.command).replace("{prompt}", turn.prompt)
                for part in (path, body)
            )
            found[name] = text
    return found


def _merged(first: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, mappings within them merged too; what is in `more` wins."""
    found = dict(first)
    for key, value in more.items():
        old = found.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        found[key] = _merged(old, value) if both and isinstance(old, Mapping) else value
    return found


def _filled(preparation: Preparation, setup: Setup) -> Preparation:
    """Return it with its placeholders replaced, in keys and values at any depth."""
    places = {
        "{port}": str(setup.port),
        "{home}": setup.home,
        "{workspace}": setup.workspace,
        "{key}": setup.key,
    }

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            # Not `format`: configuration files are full of braces of their own.
            for place, real in places.items():
                value = value.replace(place, real)
            return value
        if isinstance(value, Mapping):
            return {fill(key): fill(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [fill(inner) for inner in value]
        return value

    return msgspec.convert(fill(structs.asdict(preparation)), Preparation)


def _write(source: AgentSource, name: str, content: Any, setup: Setup) -> None:
    path = Path(name)
    inside = [Path(setup.home), Path(setup.workspace)]
    if ".." in path.parts or not any(folder in path.parents for folder in inside):
        raise RecordError(
            2,
            f"setting up {source.name}: the file {name} is neither in {{home}} nor in "
            "{workspace}; correct the manifest's entry",
        )
    text = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise RecordError(
            4, f"setting up {source.name}: writing {name}: {error.strerror}; free the disk"
        ) from error
