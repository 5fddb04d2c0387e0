"""Finds the surfaces by their folders, and loads of each only what is asked for."""

import difflib
import importlib
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import msgspec
from msgspec import Struct, field

from harness.surfaces.base import Kinds, MakeNormalizer

T = TypeVar("T")

Tier = Literal["base", "rich", "experimental"]


class SurfaceError(Exception):
    """A surface that is not known, or a manifest or vocabulary that is broken. Exit code 2."""


class AgentSource(Struct, frozen=True, forbid_unknown_fields=True):
    """An agent that speaks the surface: its name in cassettes, and how to get it."""

    name: str
    install: str


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """`manifest.yaml`: what a surface is, and what it cannot express.

    `excluded` maps a scenario's id to the reason why the surface cannot express it. `volatile`
    maps a native kind to what of it may differ between two recordings of one scenario.
    `tier` is base, rich or experimental for its provider, with the reason.
    """

    surface: str
    provider: Literal["codex", "claude", "cursor", "opencode", "acp"]
    title: str
    tier: Tier
    tier_reason: str
    agents: list[AgentSource]
    excluded: dict[str, str] = field(default_factory=dict)
    volatile: dict[str, str] = field(default_factory=dict)


class KindEntry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One native kind: the canonical types it gives, or why it is ignored. Exactly one."""

    to: list[str] = field(default_factory=list)
    ignored: str = ""
    experimental: bool = False
    note: str = ""


class Vocabulary(Struct, frozen=True, forbid_unknown_fields=True):
    """`vocabulary.yaml`: the native kinds that a surface at a version can send.

    `source` is where the list comes from, `version` the agent's version it was taken from.
    """

    version: str
    source: str
    kinds: dict[str, KindEntry]


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

    def kinds(self) -> Kinds:
        """A namer of native kinds for one conversation."""
        return cast("Kinds", self._module("kinds").Kinds())

    @property
    def normalizer(self) -> MakeNormalizer:
        """The reference normalizer."""
        return cast("MakeNormalizer", self._module("normalizer").Normalizer)

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
            return msgspec.convert(yaml.load(path.read_text("utf-8"), loader), kind)  # noqa: S506
        except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
            raise SurfaceError(f"{path}: {error}") from error


@cache
def surfaces() -> dict[str, Surface]:
    """Return every surface by name, sorted."""
    folders = sorted(m.parent for m in Path(__file__).parent.glob("*/manifest.yaml"))
    return {s.name: s for s in map(Surface, folders)}


def surface(name: str) -> Surface:
    """Return the surface of that name. Raises SurfaceError, naming the nearest."""
    known = surfaces()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
    raise SurfaceError(f"no surface is called {name!r}; {hint}")
