// The lists: packed until they are first looked at.
(() => {
  "use strict";
  const { all, byId, filter, grid, store } = harnessPage;

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

  harnessPage.views = { ready };
})();
