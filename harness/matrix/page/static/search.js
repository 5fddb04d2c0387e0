// Search: cells, cassettes, kinds and laws by their names at once, then the text of every frame.
(() => {
  "use strict";
  const { all, badge, byId, count, el, filter, hash, plain, say, store, views } = harnessPage;

  const MOST = 200; // hits in frames
  const AROUND = 60; // characters either side of a hit
  let run = 0;

  function excerpt(text, at, length) {
    const from = Math.max(0, at - AROUND);
    const to = Math.min(text.length, at + length + AROUND);
    return el(
      "span",
      { class: "excerpt" },
      from ? "…" : "",
      text.slice(from, at),
      el("mark", {}, text.slice(at, at + length)),
      text.slice(at + length, to),
      to < text.length ? "…" : "",
    );
  }

  function section(title, items) {
    if (!items.length) return null;
    return el("section", {}, el("h2", {}, title, el("small", {}, items.length)), el("ul", { class: "hits" }, items));
  }

  function named(words, { cells, cassettes }) {
    const has = (...texts) => texts.some((text) => text.toLowerCase().includes(words));
    const inCells = [...cells]
      .filter(([, c]) => has(`${c.row} ${c.provider}`, c.value, c.reason))
      .map(([id, c]) => el("li", {}, el("a", { href: hash({ cell: id }) }, `${c.row} × ${c.provider}`), el("span", { class: "dim" }, `${c.icon} ${c.value}: ${c.reason}`)));
    const inCassettes = cassettes
      .filter((c) => filter.passes(c) && has(c.id, c.outcome, c.provenance))
      .map((c) => el("li", {}, el("a", { href: hash({ cassette: c.id }) }, c.id), badge("o", c.outcome), badge("p", c.provenance)));
    const inKinds = all("#view-native tbody tr")
      .filter((row) => has(row.querySelector("th").textContent))
      .map((row) => {
        const first = row.querySelector("a[href]");
        const surface = row.closest(".block").dataset.surface;
        return el("li", {}, el("code", {}, row.querySelector("th").textContent.trim()), el("span", { class: "dim" }, surface), first ? el("a", { href: first.getAttribute("href") }, first.title) : el("span", { class: "dim" }, "not seen"));
      });
    const inLaws = all("#view-laws tbody tr")
      .filter((row) => has(row.textContent))
      .map((row) => el("li", {}, el("a", { href: row.querySelector("a").getAttribute("href") }, row.querySelector("th").textContent.trim()), el("span", { class: "dim" }, row.cells[1].textContent)));
    return [section("Cells", inCells), section("Cassettes", inCassettes), section("Native kinds", inKinds), section("Laws", inLaws)];
  }

  function hit(cassette, row, words) {
    const kind = row.kind.toLowerCase().indexOf(words);
    const at = row.content.toLowerCase().indexOf(words);
    if (kind >= 0 || at >= 0) {
      const text = at >= 0 ? excerpt(row.content, at, words.length) : excerpt(row.kind, kind, words.length);
      return [hash({ cassette: cassette.id, frame: row.seq }), `#${row.seq}`, text];
    }
    for (const event of row.events) {
      const within = event.content.toLowerCase().indexOf(words);
      const type = event.type.indexOf(words);
      if (within < 0 && type < 0) continue;
      const text = within >= 0 ? excerpt(event.content, within, words.length) : excerpt(event.type, type, words.length);
      return [hash({ cassette: cassette.id, frame: row.seq, event: event.number }), `#${row.seq} ${event.type}`, text];
    }
    return null;
  }

  async function inFrames(words, cassettes, own, target) {
    let found = 0;
    for (const cassette of cassettes.filter(filter.passes)) {
      const tape = (await store.bundle(cassette.bundle)).get(cassette.id);
      // A newer search has begun, or the reader has gone.
      if (own !== run) return;
      const items = [];
      for (const row of tape.rows) {
        const at = found < MOST ? hit(cassette, row, words) : null;
        if (!at) continue;
        found += 1;
        items.push(el("li", {}, el("a", { href: at[0] }, at[1]), at[2]));
      }
      if (items.length) target.append(el("h3", {}, cassette.id), el("ul", { class: "hits" }, items));
      if (found >= MOST) break;
    }
    const more = found >= MOST ? `The first ${MOST} frames; say more to see fewer.` : `${count(found, "frame")}.`;
    target.querySelector("output").textContent = more;
    say(`Search done. ${more}`);
  }

  /** Show what is found for the words. */
  async function open(words) {
    const own = (run += 1);
    const view = byId("view-search");
    const low = words.trim().toLowerCase();
    const [index] = await Promise.all([store.index(), views.ready("native"), views.ready("laws")]);
    if (own !== run) return;
    if (!low) {
      view.replaceChildren(el("h1", {}, "Search"), el("p", { class: "lead" }, "Type a word: it is looked for in cells, cassettes, kinds, laws, frames and events."));
      return;
    }
    const frames = el("section", {}, el("h2", {}, "Frames and events"), el("output", { class: "dim" }, "Looking…"));
    view.replaceChildren(el("h1", {}, "Search: ", plain(words)), ...named(low, index).filter(Boolean), frames);
    await inFrames(low, index.cassettes, own, frames);
  }

  harnessPage.search = { open, stop: () => (run += 1) };
})();
