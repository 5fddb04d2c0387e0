// Tables that are one stop of the tab key: arrows move from link to link, Home and End in a row.
(() => {
  "use strict";
  const { all } = harnessPage;

  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  function visible(link) {
    return link.offsetParent !== null;
  }

  function rows(table) {
    return all("tbody tr", table)
      .map((row) => all("a", row).filter(visible))
      .filter((row) => row.length);
  }

  function column(link) {
    return link.closest("td, th").cellIndex;
  }

  /** Return the link of a row that is nearest to a column. */
  function nearest(row, at) {
    const far = (link) => Math.abs(column(link) - at);
    return row.reduce((best, link) => (far(link) < far(best) ? link : best));
  }

  function target(table, link, key) {
    const grid = rows(table);
    const y = grid.findIndex((row) => row.includes(link));
    if (y < 0) return null;
    if (key === "Home") return grid[y][0];
    if (key === "End") return grid[y][grid[y].length - 1];
    const [dy, dx] = MOVES[key];
    if (dx) return grid[y][grid[y].indexOf(link) + dx] || link;
    return grid[y + dy] ? nearest(grid[y + dy], column(link)) : link;
  }

  /** Make a table one stop. */
  function rove(table) {
    const enter = (link) => {
      for (const other of all('tbody a[tabindex="0"]', table)) other.tabIndex = -1;
      link.tabIndex = 0;
    };
    const links = all("tbody a", table);
    if (!links.length) return;
    links.forEach((link) => (link.tabIndex = -1));
    enter(links[0]);
    table.addEventListener("focusin", (event) => {
      const link = event.target.closest("tbody a");
      if (link) enter(link);
    });
    table.addEventListener("keydown", (event) => {
      const link = event.target.closest("tbody a");
      if (!link || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === " ") {
        event.preventDefault();
        link.click();
      } else if (MOVES[event.key] || event.key === "Home" || event.key === "End") {
        event.preventDefault();
        const to = target(table, link, event.key);
        if (to) to.focus();
      }
    });
  }

  /** Where filters have hidden the stop of a table, its first visible link is the stop. */
  function settle() {
    for (const table of all('table[role="grid"]')) {
      const stop = table.querySelector('tbody a[tabindex="0"]');
      const first = all("tbody a", table).find(visible);
      if (stop && first && !visible(stop)) {
        stop.tabIndex = -1;
        first.tabIndex = 0;
      }
    }
  }

  harnessPage.grid = { rove, settle };
})();
