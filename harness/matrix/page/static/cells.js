// The tables: moving about by keys, and the panel with a cell's evidence.
(() => {
  "use strict";
  const { all, badge, byId, count, el, filter, hash, plain, store } = harnessPage;

  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const END = { Home: -Infinity, End: Infinity };
  let shown = "";

  function grid(table) {
    return all("tbody tr", table)
      .map((row) => all("[data-cell]", row).filter((link) => !link.closest("td").hidden))
      .filter((row) => row.length);
  }

  function clamp(value, length) {
    return Math.max(0, Math.min(length - 1, value));
  }

  function rove(table) {
    const links = all("[data-cell]", table);
    const enter = (link) => links.forEach((other) => (other.tabIndex = other === link ? 0 : -1));
    enter(links[0]);
    table.addEventListener("focusin", (event) => {
      const link = event.target.closest("[data-cell]");
      if (link) enter(link);
    });
    table.addEventListener("keydown", (event) => {
      const link = event.target.closest("[data-cell]");
      if (!link || event.altKey || event.ctrlKey || event.metaKey) return;
      const rows = grid(table);
      const y = rows.findIndex((row) => row.includes(link));
      const x = rows[y].indexOf(link);
      let to = null;
      if (MOVES[event.key]) {
        const [dy, dx] = MOVES[event.key];
        const row = rows[clamp(y + dy, rows.length)];
        to = row[clamp(x + dx, row.length)];
      } else if (event.key in END) {
        to = rows[y][clamp(END[event.key], rows[y].length)];
      } else if (event.key === " ") {
        event.preventDefault();
        link.click();
      }
      if (!to) return;
      event.preventDefault();
      to.focus();
    });
  }

  function piece(id, cassette, [, frame, times, native, kinds]) {
    const address = hash({ cassette: cassette.id, frame, cell: id });
    return el(
      "li",
      {},
      el(
        "a",
        { href: address, class: "piece" },
        el("span", { class: "name" }, cassette.scenario),
        el("span", { class: "where" }, `#${frame}`),
        el("span", { class: "kinds" }, kinds.filter(Boolean).slice(0, 3).join(", ")),
        el(
          "span",
          { class: "marks" },
          badge("p", cassette.provenance),
          badge("o", cassette.outcome),
          native ? null : el("span", { class: "badge", title: "made up by the adapter" }, "synthesized"),
          times > 1 ? el("small", {}, `${times}×`) : null,
        ),
      ),
    );
  }

  function groups(id, cell, cassettes) {
    const by = new Map();
    for (const sighting of cell.evidence) {
      const cassette = cassettes[sighting[0]];
      if (!filter.passes(cassette)) continue;
      const key = `${cassette.surface} · ${cassette.agent}`;
      if (!by.has(key)) by.set(key, []);
      by.get(key).push(piece(id, cassette, sighting));
    }
    return [...by].map(([name, items], at) =>
      el("details", { open: at < 3 || by.size < 6 }, el("summary", {}, name, el("small", {}, items.length)), el("ul", {}, items)),
    );
  }

  function content(id, cell, cassettes) {
    const found = groups(id, cell, cassettes);
    const left = cell.evidence.filter(([at]) => filter.passes(cassettes[at])).length;
    const hidden = cell.evidence.length - left;
    return [
      el(
        "header",
        {},
        el("h2", { id: "panel-title", tabindex: "-1" }, cell.row, el("small", {}, cell.provider)),
        el("button", { type: "button", class: "plain close", "aria-label": "Close the evidence", onclick: close }, "×"),
      ),
      el(
        "p",
        { class: "verdict" },
        el("span", { class: `chip v-${cell.value.replace(/ /g, "-")}` }, el("i", { "aria-hidden": "true" }, cell.icon), cell.value),
        el("span", {}, cell.reason),
      ),
      cell.constructed ? el("p", { class: "dim" }, "It rests on constructed cassettes alone: no agent ran.") : null,
      el("h3", {}, cell.evidence.length ? `Shown in ${count(left, "cassette")}` : "No cassette shows it"),
      hidden ? el("p", { class: "dim" }, `${count(hidden, "cassette")} more without the filters.`) : null,
      ...found,
    ];
  }

  function mark(id) {
    for (const link of all("[data-cell]")) {
      if (link.dataset.cell === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** Show a cell's evidence. `focus` is whether the reader asked for it just now. */
  async function open(id, focus) {
    const { cells, cassettes } = await store.index();
    const cell = cells[id];
    const panel = byId("panel");
    shown = id;
    mark(id);
    panel.replaceChildren(
      ...(cell
        ? content(id, cell, cassettes)
        : [el("p", { class: "notice" }, `There is no cell ${plain(id)}.`), el("button", { type: "button", class: "plain", onclick: close }, "Close")]
      ).filter(Boolean),
    );
    panel.hidden = false;
    panel.scrollTop = 0;
    if (focus && cell) byId("panel-title").focus();
  }

  function hide() {
    shown = "";
    byId("panel").hidden = true;
    mark("");
  }

  function close() {
    const link = all("[data-cell]").find((node) => node.dataset.cell === shown);
    location.hash = hash({ view: "tables" });
    if (link) link.focus();
  }

  function start() {
    all("table.matrix").forEach(rove);
    filter.onchange(() => {
      if (shown) open(shown, false);
    });
  }

  harnessPage.cells = { close, hide, isOpen: () => Boolean(shown), open, start };
})();
