// A cell's panel: opened beside the tables, closed again, kept up with the filters.
(() => {
  "use strict";
  const { all, byId, el, filter, hash, panel, plain, store } = harnessPage;

  let shown = "";

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
    shown = id;
    const { cells, cassettes } = await store.index();
    if (shown !== id) return;
    const cell = cells.get(id);
    const aside = byId("panel");
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
    filter.onchange(() => {
      if (shown) open(shown, false);
    });
  }

  harnessPage.cells = { close, hide, isOpen: () => Boolean(shown), open, start };
})();
