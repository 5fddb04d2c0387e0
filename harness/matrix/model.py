"""The shape of `matrix/matrix.json`: everything under `matrix/` is made of this one value.

`matrix_schema` is its published JSON Schema (`harness matrix --schema`). Ids are those of
cassettes (`<surface>/<agent>/<scenario>`), agents are `<name>-<version>`, frames are numbers of
frames (1, 2, ...) in the cassette beside them.
"""

from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct, field

from harness.canonical.schema import DIALECT

PROVIDERS = ("acp", "cursor", "opencode", "codex", "claude")
"""The columns, in the seed document's order, with Claude beside them."""

Value = Literal["direct", "partial", "optional", "not core", "not tried"]
VALUES: tuple[Value, ...] = get_args(Value)

ICONS: dict[Value, str] = {
    "direct": "✓",
    "partial": "◐",
    "optional": "◇",
    "not core": "×",
    "not tried": "–",
}
"""The seed's icons, and one for what it had no value for."""

MEANINGS: dict[Value, str] = {
    "direct": "every base surface of the provider shows it natively, with each agent tried on it",
    "partial": "seen, but only on some of its surfaces or agents, or only through synthesis",
    "optional": "seen only under a capability, mode or experimental switch of the client's",
    "not core": "a scenario that would show it ran, nothing did, and no native kind is for it",
    "not tried": "no cassette could have shown it",
}
"""The legend; RULES.md is the long form."""

Seen = Literal["live", "scripted", "constructed", "not seen"]
Provenance = Literal["live", "scripted", "constructed"]
Agreement = Literal["agrees", "disagrees", "open"]
State = Literal["native", "synthesized", "switched", "silent", "excluded", "not tried"]
"""What one agent on one surface says of a row.

`native`: shown by a native frame; for an interface addition, with nothing of it made up.
`synthesized`: shown, but made up by the adapter, or in part. `switched`: shown, but only under a
switch that the client turns on. `silent`: a scenario that would show it ran, and nothing did.
`excluded`: the manifest says why no scenario can show it there. `not tried`: none of these.
"""


class Evidence(Struct, frozen=True):
    """One cassette that shows a row: where first and best, how often, and how it came.

    `kind` is the native kind of frame `frame`, `kinds` are all that showed it. `made` of the
    `count` sightings were made up by the adapter, wholly or in part. `native`: for an event kind,
    one at least was not; for an interface addition, none was. `switch` names the client's switch
    without which it would not have come.
    """

    cassette: str
    frame: int
    kind: str
    native: bool
    count: int
    made: int
    kinds: list[str]
    provenance: Provenance
    switch: str = ""


class SurfaceState(Struct, frozen=True):
    """What one agent on one surface says of a row. `note` is the manifest's reason, if excluded.

    `silent` are the cassettes whose scenario would show the row and that do not.
    """

    surface: str
    agent: str
    tier: Literal["base", "rich", "experimental"]
    state: State
    note: str = ""
    silent: list[str] = field(default_factory=list)


class Claim(Struct, frozen=True):
    """What the seed document says in this cell, and whether the cassettes agree.

    `open`: nothing was tried that could contradict it. Where it disagrees, `against` are the
    cassettes that contradict it and `reason` says in a line what they show.
    """

    value: Value
    words: str
    agreement: Agreement
    against: list[str] = field(default_factory=list)
    reason: str = ""


class Cell(Struct, frozen=True):
    """One cell: its value, the rule's reason in a few words, and what it rests on.

    `note` says, where it was not tried, what would show it. `constructed_only`: no agent ran;
    every piece of evidence was written from documents. `claim` is None for Claude, of which the
    seed says nothing.
    """

    value: Value
    reason: str
    note: str
    evidence: list[Evidence]
    states: list[SurfaceState]
    constructed_only: bool = False
    claim: Claim | None = None


class TableRow(Struct, frozen=True):
    """A row: `note` is what it is worth to a client, in the seed's words; `cells` by provider."""

    id: str
    note: str
    cells: dict[str, Cell]


class Table(Struct, frozen=True):
    """A table: `head` is the heading of its rows, `note` that of the column beside the cells."""

    id: Literal["kinds", "additions"]
    title: str
    head: str
    note: str
    rows: list[TableRow]


class CassetteEntry(Struct, frozen=True):
    """A cassette that the matrix rests on. `title` is its scenario's, empty where unknown.

    `outcome` is completed, failed, interrupted or cancelled (a turn's state), `tool failed` or
    `tool declined` where every turn completed, or `no turn`. `events` counts canonical events.
    """

    id: str
    surface: str
    provider: str
    agent: str
    scenario: str
    title: str
    provenance: Provenance
    outcome: str
    frames: int
    events: int


class Unusable(Struct, frozen=True):
    """A file under `cassettes/` that was not counted, and why."""

    id: str
    problem: str

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.id}: {self.problem}"


class KindSeen(Struct, frozen=True):
    """A native kind with one agent: its best provenance, how often, and where first."""

    seen: Seen
    count: int
    first: tuple[str, int]


class NativeKind(Struct, frozen=True):
    """A native kind of a surface's vocabulary, and what the cassettes showed of it.

    Mapped (`to`) or `ignored` with a reason; neither for one that no vocabulary has. `agents`
    holds each agent that sent it, by id; `first` is a cassette's id and the number of a frame.
    """

    kind: str
    to: list[str]
    ignored: str
    experimental: bool
    seen: Seen
    count: int
    first: tuple[str, int] | None
    in_vocabulary: bool
    agents: dict[str, KindSeen]


class ScenarioColumn(Struct, frozen=True):
    """One cassette of a scenario, and in words how it differs from the others."""

    cassette: str
    provider: str
    surface: str
    agent: str
    outcome: str
    differences: list[str]


class ScenarioStep(Struct, frozen=True):
    """One step of the aligned skeletons: (type, item type, status).

    `counts` is how many events each column has there, in the columns' order; `made` says of each
    whether all of them were made up.
    """

    type: str
    item: str
    status: str
    counts: list[int]
    made: list[bool]


class ScenarioView(Struct, frozen=True):
    """A scenario side by side: every cassette of it, their canonical skeletons aligned."""

    id: str
    title: str
    columns: list[ScenarioColumn]
    steps: list[ScenarioStep]


class Matrix(Struct, frozen=True):
    """Everything under `matrix/`.

    `canonical` is events by table (types, item types, request types), name and provider: a name
    without a provider was not seen there, which is not a no.
    """

    kinds: Table
    additions: Table
    cassettes: list[CassetteEntry]
    unusable: list[Unusable]
    native: dict[str, list[NativeKind]]
    canonical: dict[str, dict[str, dict[str, int]]]
    scenarios: list[ScenarioView]

    @property
    def tables(self) -> tuple[Table, Table]:
        """Both tables, in the seed's order."""
        return (self.kinds, self.additions)


def matrix_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `matrix/matrix.json`."""
    (root,), definitions = msgspec.json.schema_components([Matrix], ref_template="#/$defs/{name}")
    return {"$schema": DIALECT, "title": "Matrix", **root, "$defs": definitions}
