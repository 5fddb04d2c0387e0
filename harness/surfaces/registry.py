"""Finds the surfaces by their folders, and loads of each only what is asked for."""

import difflib
import importlib
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import msgspec
from msgspec import Struct, field

from harness.canonical.names import RawSource
from harness.regular import read_text
from harness.surfaces.base import Kinds, MakeNormalizer, Preparation, Program

T = TypeVar("T")

Tier = Literal["base", "rich", "experimental"]


class SurfaceError(Exception):
    """A surface that is not known, or a manifest or vocabulary that is broken. Exit code 2."""


class AgentSource(Struct, frozen=True, forbid_unknown_fields=True):
    """An agent that speaks the surface: its name in cassettes, and how to get it.

    `program` is how it is found; without it, the surface's `recorder.py` says that in `PROGRAM`.
    `prepare` is what it needs to run on the scripted model; `asking` and `automatic` are added
    to it where the scenario's `permissions` are `ask` or `automatic`: arguments after the others,
    variables, files and options by name, mappings within them joined.

    `excluded` and `volatile` are this agent's own, beside the surface's. `timeout` is how many
    seconds a recording may take: more for an agent that tries long what fails. `patient`: the
    scripted model answers once the agent is silent, for one that tells of a tool's end beside its
    next request. `stand_in` says of what is no agent what it is: its recordings are `constructed`,
    and have that as their source.
    """

    name: str
    install: str = ""
    program: Program | None = None
    prepare: Preparation = Preparation()
    asking: Preparation = Preparation()
    automatic: Preparation = Preparation()
    timeout: float = 60.0
    patient: bool = False
    stand_in: str = ""
    excluded: dict[str, str] = field(default_factory=dict)
    volatile: dict[str, str] = field(default_factory=dict)

    @property
    def how(self) -> str:
        """How to get it, as a command or a sentence."""
        if self.install or self.program is None or not self.program.npm:
            return self.install or "install it"
        return f"harness agents install {self.name}"


class Playback(Struct, frozen=True, forbid_unknown_fields=True):
    """How a played-back agent holds a client to its cassette, on one surface.

    `ids` is how an answer is paired with its request: by JSON-RPC's `id`, or by the `request_id`
    of control messages. The client's own requests may carry other ids than the recorded ones.

    `may_differ` names places in a client's line, keys from the outside in with dots between and
    `*` for any key or index, with how they may differ and the reason. It begins with one of:

    - `any:` whatever stands there, or nothing;
    - `path:` an absolute path; what lies below the recorded one lies below the client's from
      then on;
    - `minted:` a text of the client's making, which the agent's lines carry from then on where
      they carry the recorded one.

    `carried_out` are the methods, `*` for any ending, of the agent's requests that the client
    carries out in its own folders: their paths are the client's. `exits` is what ends the agent:
    the end of its input, or its work.

    `options` are those of the command line that the client gives a value of its own, with the
    reason. Of a server, `listening` is the pattern of the line with which it says its port, in
    the first group, and `streams` are the paths of its streams of events.
    """

    ids: Literal["json-rpc", "control", "none"] = "none"
    may_differ: dict[str, str] = field(default_factory=dict)
    carried_out: list[str] = field(default_factory=list)
    exits: Literal["input", "work"] = "input"
    options: dict[str, str] = field(default_factory=dict)
    listening: str = ""
    streams: list[str] = field(default_factory=list)


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """`manifest.yaml`: what a surface is, and what it cannot express.

    `agents` are the agents that speak it; one more is one more entry, without code, where the
    entry has its `program`. `excluded` maps a scenario's id to the reason why the surface cannot
    express it. `volatile` maps a native kind to what of it may differ between two recordings of
    one scenario; a key `SCENARIO: KIND` says it of that scenario alone.
    `tier` is base, rich or experimental for its provider, with the reason.
    `playback` is how its cassettes are played back; without it they cannot be.
    """

    surface: str
    provider: Literal["codex", "claude", "cursor", "opencode", "acp"]
    title: str
    tier: Tier
    tier_reason: str
    agents: list[AgentSource]
    excluded: dict[str, str] = field(default_factory=dict)
    volatile: dict[str, str] = field(default_factory=dict)
    playback: Playback | None = None

    def agent(self, name: str) -> AgentSource | None:
        """Return the agent of that name, if it speaks the surface."""
        return next((source for source in self.agents if source.name == name), None)

    def excluded_for(self, name: str) -> dict[str, str]:
        """Return what the surface, or this agent on it, cannot express, with the reasons."""
        source = self.agent(name)
        return self.excluded | (source.excluded if source else {})

    def volatile_for(self, name: str, scenario: str) -> dict[str, str]:
        """Return what may differ between two recordings of a scenario with this agent, by kind."""
        source = self.agent(name)
        found = {}
        for key, how in (self.volatile | (source.volatile if source else {})).items():
            of, colon, kind = key.partition(": ")
            if not colon or of == scenario:
                found[kind if colon else key] = how
        return found


class KindEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One native kind: the canonical types it gives, or why it is ignored. Exactly one."""

    to: list[str] = field(default_factory=list)
    ignored: str = ""
    experimental: bool = False
    note: str = ""


class Vocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """`vocabulary.yaml`: the native kinds that a surface at a version can send.

    `source` is where the list comes from, `version` the agent's version it was taken from.
    `raw_sources` are what an event's `raw.source` may be on this surface.
    """

    version: str
    source: str
    kinds: dict[str, KindEntry]
    raw_sources: list[RawSource] = field(default_factory=list)


class Surface:
    """One folder under `harness/surfaces/`. Parts are imported when first used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = f"harness.surfaces.{folder.name}"

    @property
    def name(self) -> str:
        """The surface's name, such as `codex-app-server`."""
        return self.folder.name.replace("_", "-")

    @cached_property
    def manifest(self) -> Manifest:
        """The checked manifest. Raises SurfaceError."""
        return self._yaml("manifest.yaml", Manifest)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The checked vocabulary. Raises SurfaceError."""
        vocabulary = self._yaml("vocabulary.yaml", Vocabulary)
        for kind, entry in vocabulary.kinds.items():
            if bool(entry.to) == bool(entry.ignored):
                raise SurfaceError(
                    f"{self.folder / 'vocabulary.yaml'}: {kind}: "
                    "a kind is mapped (`to`) or `ignored` with a reason, one of the two"
                )
        return vocabulary

    @cached_property
    def ignored(self) -> frozenset[str]:
        """The native kinds that may give no event."""
        return frozenset(k for k, entry in self.vocabulary.kinds.items() if entry.ignored)

    @cached_property
    def sources(self) -> frozenset[str]:
        """What an event's `raw.source` may be."""
        return frozenset(self.vocabulary.raw_sources)

    def kinds(self) -> Kinds:
        """A namer of native kinds for one conversation."""
        return self._make_kinds()

    @cached_property
    def _make_kinds(self) -> Callable[[], Kinds]:
        return cast("Callable[[], Kinds]", self._module("kinds").Kinds)

    @cached_property
    def normalizer(self) -> MakeNormalizer:
        """The reference normalizer."""
        return cast("MakeNormalizer", self._module("normalizer").Normalizer)

    def program(self, name: str = "") -> Program:
        """Return the program of an agent that speaks the surface; the first without a name.

        Raises SurfaceError for a name that is not in the manifest, or an entry that is not whole.
        """
        sources = self.manifest.agents
        source = self.manifest.agent(name) if name else sources[0] if sources else None
        if source is None:
            known = [source.name for source in sources]
            raise SurfaceError(f"{self.name}: no agent is called {name!r}; {_near(name, known)}")
        program = source.program or getattr(self.recorder, "PROGRAM", None)
        if not isinstance(program, Program) or not program.command:
            raise SurfaceError(
                f"{self.folder / 'manifest.yaml'}: agents: {source.name}: "
                "says nothing of its program: give it `program: {command: NAME}`"
            )
        return msgspec.structs.replace(program, agent=program.agent or source.name)

    @property
    def recorder(self) -> Any:
        """The recorder's module, or None where the surface cannot be recorded."""
        return self._module("recorder") if (self.folder / "recorder.py").exists() else None

    @property
    def declared(self) -> Any:
        """The module that asks the installed agent for its kinds, or None where none can be."""
        return self._module("declared") if (self.folder / "declared.py").exists() else None

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.{name}")

    def _yaml(self, name: str, kind: type[T]) -> T:
        import yaml  # noqa: PLC0415 - start-up: most commands read no YAML

        path = self.folder / name
        try:
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            return msgspec.convert(yaml.load(read_text(path), loader), kind)  # noqa: S506
        except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
            raise SurfaceError(f"{path}: {error}") from error


@cache
def surfaces() -> dict[str, Surface]:
    """Return every surface by name, sorted."""
    found = (m.parent for m in Path(__file__).parent.glob("*/manifest.yaml"))
    # One that is only being written (`harness new surface`) is none yet.
    folders = sorted(folder for folder in found if not folder.name.startswith("."))
    return {s.name: s for s in map(Surface, folders)}


def surface(name: str) -> Surface:
    """Return the surface of that name. Raises SurfaceError, naming the nearest."""
    known = surfaces()
    if name in known:
        return known[name]
    raise SurfaceError(f"no surface is called {name!r}; {_near(name, known)}")


def _near(name: str, known: Iterable[str]) -> str:
    names = list(known)
    found = difflib.get_close_matches(name, names, 1)
    return f"did you mean {found[0]}?" if found else f"known: {', '.join(names)}"
