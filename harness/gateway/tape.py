"""A model's recorded answers: vcrpy's cassette, and around it what vcrpy leaves open.

vcrpy takes a file that it cannot read for an empty one and writes over it, takes any version, and
says nothing of what was never played. Here a file is read strictly or refused, appears whole or
not at all, and each exchange is played at most once.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import yaml
from msgspec import Struct
from vcr import VCR
from vcr.cassette import Cassette
from vcr.errors import MissingMetadataError
from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.request import Request
from vcr.serialize import CASSETTE_FORMAT_VERSION, deserialize, serialize
from vcr.serializers import yamlserializer

from harness.cassette.format import Agent
from harness.gateway.filters import RequestFilter, ResponseFilter, is_filtered
from harness.gateway.pace import cut
from harness.recording.errors import RecordError
from harness.regular import read_text

FORMAT: Final = 1
_NAME: Final = "harness"


class Exchange(Struct, frozen=True, forbid_unknown_fields=True):
    """What vcrpy's format has no place for: when an answer's events came, and how it ended.

    `events` are milliseconds since the request and bytes of each, as `pace.written` has them;
    `end` is `whole`, or `left` where the agent closed the connection.
    """

    api: str
    events: str
    end: Literal["whole", "left"]


class Meta(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says of itself, under `metadata`, where vcrpy keeps what is not its own.

    `folder` is where the agent worked: the model names it in what it answers.
    """

    format: int
    agent: Agent
    surface: str
    scenario: str
    recorded: str
    folder: str
    exchanges: list[Exchange]


class UnusableError(RecordError):
    """A file that is no cassette of a model's, or not a whole one. Exit code 4."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            4,
            f"the model's cassette {path}: {what}; it was not touched: restore it, or move it away "
            "and record it with --live",
        )


class _Serializer:
    """vcrpy's YAML, read strictly. Raises ValueError."""

    @staticmethod
    def serialize(value: dict[str, Any]) -> str:
        return str(yamlserializer.serialize(value))

    @staticmethod
    def deserialize(text: str) -> dict[str, Any]:
        try:
            value = yamlserializer.deserialize(text)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise ValueError(f"no YAML that vcrpy reads: {_line(error)}") from error
        if not isinstance(value, dict) or not {"version", "interactions"} <= set(value):
            raise ValueError("it is no vcrpy cassette, or its end is missing")
        if type(value["version"]) is not int or value["version"] != CASSETTE_FORMAT_VERSION:
            raise ValueError(
                f"its version is {value['version']!r}, and only {CASSETTE_FORMAT_VERSION} is known"
            )
        _check_interactions(value["interactions"])
        return value


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _check_interactions(interactions: Any) -> None:
    if not isinstance(interactions, list) or not interactions:
        raise ValueError("it has no interactions")
    for number, pair in enumerate(interactions, 1):
        try:
            known = msgspec.convert(pair, _Pair)
        except msgspec.ValidationError as error:
            raise ValueError(f"interaction {number}: {error}") from error
        bodies = (known.request.body or "", known.response.body.string)
        if not all(isinstance(body, (str, bytes)) for body in bodies):
            raise ValueError(f"interaction {number}: a body is neither text nor bytes")


class _StoredRequest(Struct, forbid_unknown_fields=True):
    method: str
    uri: str
    body: Any
    headers: dict[str, list[str]]


class _Status(Struct, forbid_unknown_fields=True):
    code: int
    message: str


class _Body(Struct, forbid_unknown_fields=True):
    string: Any


class _StoredResponse(Struct, forbid_unknown_fields=True):
    status: _Status
    headers: dict[str, list[str]]
    body: _Body


class _Pair(Struct, forbid_unknown_fields=True):
    request: _StoredRequest
    response: _StoredResponse


class _Persister:
    """vcrpy's persister, but that it replaces a file in one step and never takes one for none."""

    @staticmethod
    def load_cassette(path: Path, serializer: Any) -> Any:
        # Not vcrpy's `CassetteNotFoundError`, nor its `CassetteDecodeError`: it would go on with
        # an empty cassette. Nor its own reading: that is in the locale's encoding.
        try:
            return deserialize(read_text(path), serializer)
        except FileNotFoundError as error:
            raise RecordError(
                4, f"the model's cassette {path}: no such file; record it with --live"
            ) from error
        except UnicodeDecodeError as error:
            raise UnusableError(path, "it is no text in UTF-8") from error
        except (CassetteNotFoundError, ValueError, KeyError, TypeError) as error:
            raise UnusableError(path, _line(error)) from error
        except OSError as error:
            raise UnusableError(path, error.strerror or str(error)) from error

    @staticmethod
    def save_cassette(path: Path, cassette: dict[str, Any], serializer: Any) -> None:
        text = serialize(cassette, serializer)
        replace(path, text.encode("utf-8"))


def replace(path: Path, data: bytes) -> None:
    """Write a file whole, in the place of an older one. Raises OSError; then nothing changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def body_of(request: Request) -> bytes:
    """Return a request's body, none as an empty one."""
    return bytes(request.body or b"")


def same_body(one: Request, other: Request) -> None:
    """Match reduced bodies, as vcrpy's matchers do. Raises AssertionError."""
    if body_of(one) != body_of(other):
        raise AssertionError("the reduced bodies differ")


def cassette_config(
    request_filters: Sequence[RequestFilter], response_filters: Sequence[ResponseFilter]
) -> dict[str, Any]:
    """Return what makes a `vcr.cassette.Cassette` of ours: format, file, filters and matchers."""
    tape = VCR(
        serializer="strict",
        match_on=("method", "path", "reduced"),
        record_mode="none",
        before_record_request=list(request_filters),
        before_record_response=list(response_filters),
        path_transformer=lambda path: path,
        func_path_generator=str,
    )
    tape.register_serializer("strict", _Serializer)
    tape.register_matcher("reduced", same_body)
    tape.register_persister(_Persister)
    config: dict[str, Any] = tape.get_merged_config()
    # Of the context manager alone, which puts vcrpy between this process and its own requests.
    for name in ("path_transformer", "func_path_generator", "record_on_exception"):
        del config[name]
    return config


def load_tape(path: Path, config: dict[str, Any]) -> tuple[Cassette, Meta]:
    """Return a model's cassette and what it says of itself. Raises RecordError (4)."""
    cassette = Cassette.load(path=path, **config)
    try:
        return cassette, _meta(cassette)
    except MissingMetadataError as error:
        what = "it does not say of what agent it is"
        raise UnusableError(path, f"it is not this harness's: {what}") from error
    except ValueError as error:
        raise UnusableError(path, f"it is not this harness's: {_line(error)}") from error


def _meta(cassette: Cassette) -> Meta:
    """Return what a cassette says of itself. Raises ValueError where that does not fit it."""
    meta = msgspec.convert(cassette.get_metadata(_NAME, None), Meta)
    if meta.format != FORMAT:
        raise ValueError(f"its format is {meta.format}, and only {FORMAT} is known")
    if len(meta.exchanges) != len(cassette):
        raise ValueError(f"it tells of {len(meta.exchanges)} exchanges, and has {len(cassette)}")
    for exchange, (request, response) in zip(meta.exchanges, cassette.data, strict=True):
        cut(response["body"]["string"], exchange.events)
        if not is_filtered(request):
            raise ValueError(f"{request.uri}: its requests were not filtered")
    return meta


def save_tape(path: Path, cassette: Cassette, meta: Meta) -> None:
    """Write a model's cassette whole, or not at all. Raises OSError."""
    whole = {
        "requests": cassette.requests,
        "responses": [_copied(response) for response in cassette.responses],
        "metadata": {_NAME: msgspec.to_builtins(meta)},
    }
    _Persister.save_cassette(path, whole, _Serializer)


def read_interactions(path: Path) -> list[dict[str, Any]]:
    """Return the interactions of a file as they stand in it. Raises OSError, ValueError."""
    found: list[dict[str, Any]] = _Serializer.deserialize(read_text(path))["interactions"]
    return found


def _copied(response: dict[str, Any]) -> dict[str, Any]:
    # vcrpy turns bodies into text in place.
    return {**response, "body": dict(response["body"])}
