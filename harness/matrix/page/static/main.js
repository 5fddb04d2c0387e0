// Addresses, the theme, and the start. An address names a view, a cell, a cassette and a frame.
(() => {
  "use strict";
  const { all, byId, cassette, cells, filter, grid, hash, pairs, scenario, search, store, views } = harnessPage;

  const TITLE = document.title;
  const THEMES = ["system", "light", "dark"];
  const ICONS = { system: "◐", light: "☀", dark: "☾" };
  const FRESH = ["cassette", "scenario", "search"]; // views of many things: they begin at the top
  const places = new Map(); // where each view was scrolled to
  let view = "tables";
  let theme = "system";
  let first = true;
  let turn = 0; // counts the addresses: one that is slow to open gives way to the next
  let before = ""; // the last address that was no search

  function show(name) {
    if (name !== view) {
      places.set(view, scrollY);
      for (const section of all("[data-view]")) section.hidden = section.dataset.view !== name;
      view = name;
      scrollTo(0, FRESH.includes(name) ? 0 : places.get(name) || 0);
    }
    const tab = { cassette: "cassettes", scenario: "scenarios" }[name] || name;
    for (const link of all("[data-nav]")) {
      if (link.dataset.nav === tab) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = TITLE;
    grid.settle();
  }

  async function route() {
    const at = pairs(location.hash);
    const own = (turn += 1);
    const moved = !first;
    first = false;
    if (filter.NAMES.some((name) => at[name])) filter.set(at);
    if (!at.search) search.stop();
    if (at.cassette) {
      cells.hide();
      show("cassette");
      await cassette.open(at, moved);
    } else if (at.cell) {
      show("tables");
      await cells.open(at.cell, moved);
    } else if (at.scenario) {
      cells.hide();
      show("scenario");
      await scenario.open(at.scenario);
    } else if (at.search !== undefined) {
      cells.hide();
      show("search");
      byId("find").value = at.search;
      await search.open(at.search);
    } else if (at.law) {
      await views.ready("laws");
      if (own !== turn) return;
      cells.hide();
      show("laws");
      views.point(at.law, moved);
    } else {
      const name = byId(`view-${at.view}`) ? at.view : "tables";
      await views.ready(name);
      if (own !== turn) return;
      cells.hide();
      show(name);
    }
    if (at.search === undefined) before = location.hash;
  }

  // The filters are in the address of a view, so that it can be passed on.
  function remember() {
    const at = pairs(location.hash);
    if (at.cassette || at.cell || at.scenario || at.law || at.search !== undefined) return;
    history.replaceState(null, "", hash({ view: at.view || view, ...filter.chosen }));
  }

  function stored() {
    try {
      const kept = localStorage.getItem("theme");
      return THEMES.includes(kept) ? kept : "system";
    } catch {
      return "system";
    }
  }

  function paint() {
    const button = byId("theme");
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.firstElementChild.textContent = ICONS[theme];
    button.setAttribute("aria-label", `Colours: ${theme === "system" ? "as the system" : theme}`);
    button.title = button.getAttribute("aria-label");
  }

  function nextTheme() {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Where nothing can be kept, the choice lasts as long as the page.
    }
    paint();
  }

  function typing(target) {
    return target.matches("input, select, textarea");
  }

  function keys(event) {
    if (event.key === "/" && !typing(event.target) && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      byId("find").focus();
    } else if (event.key === "Escape") {
      if (typing(event.target) && event.target.value && event.target.type === "search") return;
      if (cells.isOpen()) cells.close();
      else if (view === "cassette") cassette.leave();
      else if (view === "scenario") location.hash = "#view=scenarios";
      else if (view === "search") location.hash = before || "#view=tables";
    }
  }

  function startSearch() {
    const input = byId("find");
    let timer = 0;
    const go = () => {
      clearTimeout(timer);
      const address = hash({ search: input.value.trim() });
      if (!input.value.trim() || location.hash === address) return;
      if (view === "search") {
        history.replaceState(null, "", address);
        route();
      } else location.hash = address;
    };
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(go, 250);
    });
    input.closest("form").addEventListener("submit", (event) => {
      event.preventDefault();
      go();
    });
  }

  function measure() {
    const top = document.querySelector(".top");
    const height = getComputedStyle(top).position === "sticky" ? top.offsetHeight : 0;
    document.documentElement.style.setProperty("--top", `${height}px`);
  }

  function start() {
    history.scrollRestoration = "manual";
    theme = stored();
    paint();
    filter.start();
    all('table[role="grid"]').forEach(grid.rove);
    filter.onchange(grid.settle);
    cells.start();
    scenario.start();
    startSearch();
    filter.onchange(remember);
    byId("theme").addEventListener("click", nextTheme);
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      byId("main").focus();
    });
    document.addEventListener("keydown", keys);
    addEventListener("hashchange", route);
    addEventListener("resize", measure);
    new ResizeObserver(measure).observe(document.querySelector(".top"));
    measure();
  }

  start();
  // The compressed parts stand after this script: they are there once the page is read.
  document.addEventListener("DOMContentLoaded", () => {
    route();
    const idle = window.requestIdleCallback || setTimeout;
    idle(async () => filter.withIndex(await store.index()));
  });
})();
