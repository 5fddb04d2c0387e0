// What stands behind a cell: the rule's reason, the seed's claim, each agent, each cassette.
(() => {
  "use strict";
  const { badge, count, el, filter, hash } = harnessPage;

  const STATES = {
    native: "native",
    synthesized: "made up, wholly or in part",
    switched: "under a switch of the client's",
    silent: "tried, not shown",
    excluded: "cannot be shown",
    "not tried": "not tried",
  };

  function chip(value, icon) {
    return el("span", { class: `chip v-${value.replace(/ /g, "-")}` }, el("i", { "aria-hidden": "true" }, icon), value);
  }

  function links(id, numbers, cassettes) {
    return numbers.map((n) => el("a", { class: "id", href: hash({ cassette: cassettes[n].id, cell: id }) }, cassettes[n].scenario));
  }

  function claim(id, { claim: told }, cassettes) {
    if (!told) return null;
    const stands = { agrees: "holds", disagrees: "is contradicted", open: "is open" }[told.agreement];
    return el(
      "section",
      { class: `claim ${told.agreement}` },
      el("h3", {}, "The seed's claim ", el("span", { class: "stands" }, stands)),
      el("p", {}, chip(told.value, told.icon), " ", told.words),
      told.reason ? el("p", {}, told.reason) : null,
      told.against.length ? el("p", { class: "ids" }, links(id, told.against, cassettes)) : null,
    );
  }

  function state(id, one, cassettes) {
    return el(
      "li",
      { class: `state s-${one.state.replace(/ /g, "-")}` },
      el("span", { class: "who" }, one.agent, el("small", {}, `${one.surface}, ${one.tier}`)),
      el("span", { class: "how" }, STATES[one.state] || one.state),
      one.note ? el("span", { class: "dim" }, one.note) : null,
      one.silent.length ? el("span", { class: "ids" }, el("span", { class: "dim" }, "not shown in"), links(id, one.silent, cassettes)) : null,
    );
  }

  function states(id, cell, cassettes) {
    const own = cell.states.filter((s) => filter.passes({ surface: s.surface }));
    if (!own.length) return null;
    return el("section", {}, el("h3", {}, "By agent"), el("ul", { class: "states" }, own.map((one) => state(id, one, cassettes))));
  }

  function piece(id, one, cassette) {
    const others = one.kinds.filter((kind) => kind && kind !== one.kind).length;
    const made = one.made === one.count ? "made up" : `${one.made} of ${one.count} made up`;
    return el(
      "li",
      {},
      el(
        "a",
        { href: hash({ cassette: cassette.id, frame: one.frame, cell: id }), class: "piece" },
        el("span", { class: "name" }, cassette.scenario),
        el("span", { class: "where" }, `#${one.frame}`),
        el("span", { class: "kinds" }, one.kind, others ? el("small", {}, ` and ${count(others, "kind")} more`) : null),
        el(
          "span",
          { class: "marks" },
          badge("p", cassette.provenance),
          badge("o", cassette.outcome),
          one.made ? el("span", { class: "badge" }, made) : null,
          one.switch ? el("span", { class: "badge" }, `under ${one.switch}`) : null,
          one.count > 1 ? el("small", {}, `${one.count}×`) : null,
        ),
      ),
    );
  }

  function groups(id, found, cassettes) {
    const by = new Map();
    for (const one of found) {
      const cassette = cassettes[one.cassette];
      const key = `${cassette.surface} · ${cassette.agent}`;
      if (!by.has(key)) by.set(key, []);
      by.get(key).push(piece(id, one, cassette));
    }
    const few = found.length <= 24;
    return [...by].map(([name, items], at) =>
      el("details", { open: few || at === 0 }, el("summary", {}, name, el("small", {}, items.length)), el("ul", {}, items)),
    );
  }

  /** Return the parts of a cell's panel, below its title. */
  function parts(id, cell, cassettes) {
    const found = cell.evidence.filter((one) => filter.passes(cassettes[one.cassette]));
    const hidden = cell.evidence.length - found.length;
    return [
      el("p", { class: "verdict" }, chip(cell.value, cell.icon), el("span", {}, cell.reason)),
      cell.note ? el("p", { class: "dim" }, cell.note) : null,
      cell.constructed_only ? el("p", { class: "dim" }, "It rests on constructed cassettes alone: no agent ran.") : null,
      claim(id, cell, cassettes),
      states(id, cell, cassettes),
      el("h3", {}, cell.evidence.length ? `Shown in ${count(found.length, "cassette")}` : "No cassette shows it"),
      hidden ? el("p", { class: "dim" }, `${count(hidden, "cassette")} more without the filters.`) : null,
      ...groups(id, found, cassettes),
    ].filter(Boolean);
  }

  harnessPage.panel = { parts };
})();
