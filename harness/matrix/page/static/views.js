// The lists: packed until they are first looked at.
(() => {
  "use strict";
  const { all, byId, filter, grid, plain, store } = harnessPage;

  const waiting = new Map();

  async function unpack(node, name) {
    // Markup of the page's own templates, in which every text is escaped.
    node.innerHTML = await store.text(`view_${name}`);
    delete node.dataset.packed;
    all('table[role="grid"]', node).forEach(grid.rove);
    filter.apply();
  }

  /** Unpack a list, once. */
  function ready(name) {
    const node = byId(`view-${name}`);
    if (node && node.dataset.packed !== undefined && !waiting.has(name)) waiting.set(name, unpack(node, name));
    return waiting.get(name) || Promise.resolve();
  }

  /** Point at a law in its list, which is shown. */
  function point(name, focus) {
    const list = byId("view-laws");
    const link = all("tbody th a", list).find((a) => a.textContent === name);
    for (const other of all("[aria-current]", list)) other.removeAttribute("aria-current");
    const none = byId("no-law");
    none.hidden = Boolean(link);
    none.textContent = link ? "" : plain(`There is no law ${name}.`);
    if (!link) return;
    link.setAttribute("aria-current", "true");
    link.closest("tr").scrollIntoView({ block: "center" });
    if (focus) link.focus({ preventScroll: true });
  }

  harnessPage.views = { point, ready };
})();
