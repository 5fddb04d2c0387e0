// The tables: moving about by keys, and the panel with a cell's evidence.
(() => {
  "use strict";
  const { all, byId, el, filter, hash, panel, plain, store } = harnessPage;

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

  /** Put a cell's panel together: panel.js has the parts. */
  function content(id, cell, cassettes) {
    const button = el("button", { type: "button", class: "plain close", "aria-label": "Close the evidence", onclick: close }, "×");
    const title = el("h2", { id: "panel-title", tabindex: "-1" }, cell.row, el("small", {}, cell.provider));
    return [el("header", {}, title, button), ...panel.parts(id, cell, cassettes)];
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
    const cell = cells.get(id);
    const aside = byId("panel");
    shown = id;
    mark(id);
    aside.replaceChildren(
      ...(cell
        ? content(id, cell, cassettes)
        : [el("p", { class: "notice" }, `There is no cell ${plain(id)}.`), el("button", { type: "button", class: "plain", onclick: close }, "Close")]
      ),
    );
    aside.hidden = false;
    aside.scrollTop = 0;
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
