// The four filters: they act on every view, and on the evidence of each cell.
(() => {
  "use strict";
  const { all, byId, say, store } = harnessPage;

  const NAMES = ["provider", "surface", "provenance", "outcome"];
  const chosen = { provider: "", surface: "", provenance: "", outcome: "" };
  const listeners = [];
  let counted = null;

  /** Whether something with these fields is left by the filters; a field it lacks says nothing. */
  function passes(fields) {
    return NAMES.every((n) => !chosen[n] || fields[n] === undefined || fields[n] === chosen[n]);
  }

  function columns() {
    for (const node of all("[data-col]")) {
      node.hidden = Boolean(chosen.provider) && node.dataset.col !== chosen.provider;
    }
  }

  function lists() {
    const list = byId("view-cassettes");
    for (const row of all("tbody tr", list)) row.hidden = !passes(row.dataset);
    const none = list.querySelector(".none");
    if (none) none.hidden = all("tbody tr", list).some((row) => !row.hidden);
    for (const dot of all("a.dot")) dot.classList.toggle("faded", !passes(dot.dataset));
    for (const block of all("#view-native .block")) {
      block.hidden = !passes(block.dataset);
      for (const row of all("tbody tr", block)) row.hidden = !passes(row.dataset);
    }
  }

  // How many cassettes, and how much of a cell's evidence is left, once the index is unpacked.
  function cells() {
    if (!counted) return;
    const known = counted.cassettes;
    byId("count").textContent = `${known.filter(passes).length} of ${known.length} cassettes`;
    for (const link of all("[data-cell]")) {
      const cell = counted.cells.get(link.dataset.cell);
      if (!cell || !cell.evidence.length) continue;
      const left = cell.evidence.filter((e) => passes(counted.cassettes[e.cassette])).length;
      const mark = link.querySelector(".n");
      mark.textContent = left;
      mark.setAttribute("aria-label", `${left} cassettes`);
      link.classList.toggle("faded", !left);
    }
  }

  function apply() {
    for (const name of NAMES) {
      const select = document.querySelector(`[data-filter="${name}"]`);
      select.value = chosen[name];
      if (select.value !== chosen[name]) chosen[name] = select.value = "";
      select.classList.toggle("on", Boolean(chosen[name]));
    }
    const active = NAMES.filter((n) => chosen[n]).length;
    byId("reset").disabled = !active;
    byId("filters-toggle").textContent = active ? `Filter (${active})` : "Filter";
    columns();
    lists();
    cells();
  }

  function set(values) {
    for (const name of NAMES) chosen[name] = values[name] || "";
    apply();
    listeners.forEach((listener) => listener());
    if (!counted) store.index().then(withIndex);
  }

  function start() {
    for (const select of all("[data-filter]")) {
      select.addEventListener("change", () => {
        set({ ...chosen, [select.dataset.filter]: select.value });
        say(byId("count").textContent);
      });
    }
    byId("reset").addEventListener("click", () => {
      set({});
      document.querySelector("[data-filter]").focus();
    });
    byId("filters-toggle").addEventListener("click", (event) => {
      const open = byId("filters").classList.toggle("open");
      event.currentTarget.setAttribute("aria-expanded", String(open));
    });
  }

  /** Once the index is there, count the evidence that is left. */
  function withIndex(index) {
    counted = index;
    cells();
  }

  harnessPage.filter = { NAMES, apply, chosen, onchange: (f) => listeners.push(f), passes, set, start, withIndex };
})();
