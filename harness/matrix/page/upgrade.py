"""For a while: the matrix as it is computed now, in its coming shape."""

from harness.matrix import build as old
from harness.matrix import model as new
from harness.matrix.rows import ROWS
from harness.scenarios import scenarios
from harness.surfaces import surfaces


def upgrade(m: old.Matrix, events: dict[str, int]) -> new.Matrix:
    titles = {n: s.title if hasattr(s, "title") else "" for n, s in scenarios().items()}
    prov = {c.id: c.provenance for c in m.cassettes}
    provider = {n: s.manifest.provider for n, s in surfaces().items()}

    def cell(c, p):
        value = "not tried" if c.value == "not seen" else c.value
        ev = [
            new.Evidence(
                e.cassette,
                e.frame,
                e.kinds[0],
                e.native,
                e.count,
                0 if e.native else e.count,
                e.kinds,
                prov[e.cassette],
            )
            for e in c.evidence
        ]
        states = []
        for k in sorted({(x.surface, x.agent) for x in m.cassettes if provider[x.surface] == p}):
            has = any(e.cassette.startswith("/".join(k) + "/") for e in ev)
            states.append(
                new.SurfaceState(
                    k[0],
                    k[1],
                    "base",
                    "native" if has else "silent",
                    "" if has else "its manifest says <b>no</b>",
                    [] if has else [x.id for x in m.cassettes if (x.surface, x.agent) == k][:3],
                )
            )
        claim = None
        if p != "claude":
            agreement = {"direct": "agrees", "partial": "disagrees"}.get(value, "open")
            claim = new.Claim(
                "direct",
                "the seed's <i>words</i>",
                agreement,
                [e.cassette for e in ev][:3] if agreement == "disagrees" else [],
                "what they show" if agreement == "disagrees" else "",
            )
        return new.Cell(
            value,
            c.reason,
            "a scenario `x` would show it" if value == "not tried" else "",
            ev,
            states,
            c.constructed_only,
            claim,
        )

    rows = [
        new.TableRow(r.id, r.value, {p: cell(m.rows[r.id][p], p) for p in new.PROVIDERS})
        for r in ROWS
    ]
    adds = [new.TableRow(f"add {r.id}, x", r.value, rows[i].cells) for i, r in enumerate(ROWS[:10])]
    native = {}
    for s, kinds in m.native.items():
        native[s] = [
            new.NativeKind(
                k.kind,
                k.to,
                k.ignored,
                k.experimental,
                k.seen,
                k.count,
                k.first,
                k.in_vocabulary,
                {k.first[0].split("/")[1]: new.KindSeen(k.seen, k.count, k.first)}
                if k.first
                else {},
            )
            for k in kinds
        ]
    views = []
    for name in sorted({c.scenario for c in m.cassettes}):
        cols = [c for c in m.cassettes if c.scenario == name]
        views.append(
            new.ScenarioView(
                name,
                titles.get(name, ""),
                [
                    new.ScenarioColumn(
                        c.id,
                        provider[c.surface],
                        c.surface,
                        c.agent,
                        c.outcome,
                        ["no request.opened"] if c.surface == "codex-exec" else [],
                    )
                    for c in cols
                ],
                [
                    new.ScenarioStep("turn.started", "", "", [1] * len(cols), [False] * len(cols)),
                    new.ScenarioStep(
                        "item.started",
                        "command_execution",
                        "inProgress",
                        [0] + [1] * (len(cols) - 1),
                        [True] * len(cols),
                    ),
                    new.ScenarioStep(
                        "turn.completed", "", "completed", [1] * len(cols), [False] * len(cols)
                    ),
                ],
            )
        )
    return new.Matrix(
        new.Table("kinds", "Event kinds", "chat_event kind", "Interface value", rows),
        new.Table("additions", "Interface additions", "Addition", "Why it matters", adds),
        [
            new.CassetteEntry(
                c.id,
                c.surface,
                provider[c.surface],
                c.agent,
                c.scenario,
                titles.get(c.scenario, ""),
                c.provenance,
                c.outcome,
                c.frames,
                events[c.id],
            )
            for c in m.cassettes
        ],
        [new.Unusable(*line.split(": ", 1)) for line in m.unusable],
        native,
        m.canonical,
        views,
    )
