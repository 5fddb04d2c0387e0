// One scenario, side by side: what each agent's recording came to, step by step, aligned.
(() => {
  "use strict";
  const { badge, byId, count, el, filter, grid, hash, plain, store } = harnessPage;

  let shown = "";

  /** An event's label, as skeleton.py has it: its type, its item or the like, its status. */
  function label(event) {
    let payload;
    try {
      payload = JSON.parse(event.content);
    } catch {
      return `${event.type} `;
    }
    const text = (value) => (typeof value === "string" ? value : "");
    const family = event.type.split(".")[0];
    let of = "";
    let status = "";
    if (family === "item") [of, status] = [payload.itemType, payload.status];
    else if (family === "request") [of, status] = [payload.requestType, payload.decision];
    else if (family === "content") of = payload.streamKind;
    else if (event.type === "turn.completed") status = payload.state;
    else if (event.type === "task.completed") status = payload.status;
    return `${event.type} ${text(of)} ${text(status)}`;
  }

  /** Return, for each step, the first event of a recording that is of it; the steps are in order. */
  function places(steps, column, tape) {
    const events = tape.rows.flatMap((row) => row.events);
    const labels = events.map(label);
    let from = 0;
    return steps.map((step) => {
      const own = `${step.type} ${step.item} ${step.status}`;
      const at = step.counts[column] ? labels.indexOf(own, from) : -1;
      if (at < 0) return null;
      let left = step.counts[column];
      for (from = at; from < labels.length && left > 0; from += 1) left -= labels[from] === own ? 1 : 0;
      return events[at];
    });
  }

  function cell(step, at, column, event) {
    const times = step.counts[at];
    if (!times) return el("td", { class: "absent" }, el("span", { class: "sr" }, "nothing"));
    const made = step.made[at] ? ", made up" : "";
    const where = event ? `frame ${event.frame}` : "somewhere";
    const label = `${column.agent}: ${where}${times > 1 ? `, ${times} times` : ""}${made}`;
    const address = hash({ cassette: column.cassette, frame: event && event.frame, event: event && event.number });
    const mark = step.made[at] ? "○" : "●";
    return el("td", {}, el("a", { class: "step", href: address, "aria-label": label, title: label }, times > 1 ? `${mark} ${times}` : mark));
  }

  function rowHead({ type, item, status }) {
    return el(
      "th",
      { scope: "row" },
      el("code", {}, type),
      item ? el("span", { class: "dim" }, ` ${item}`) : null,
      status ? el("small", {}, status) : null,
    );
  }

  function title(column) {
    return el(
      "th",
      { scope: "col", class: "tall" },
      el("a", { href: hash({ cassette: column.cassette }) }, el("span", {}, column.agent, el("small", {}, column.surface))),
    );
  }

  function named(column) {
    return el(
      "div",
      { class: "differs" },
      el("h3", {}, column.agent, el("small", {}, column.surface), badge("o", column.outcome)),
      column.differences.length
        ? el("ul", {}, column.differences.map((words) => el("li", {}, words)))
        : el("p", { class: "dim" }, "none"),
    );
  }

  function table(view, own, tapes) {
    const steps = view.steps.filter((step) => own.some(({ at }) => step.counts[at]));
    const found = own.map(({ at }, n) => places(steps, at, tapes[n]));
    const body = steps.map((step, row) => {
      const agreed = own.every(({ at }) => step.counts[at] > 0);
      return el("tr", { class: agreed ? "agreed" : null }, rowHead(step), own.map(({ column, at }, n) => cell(step, at, column, found[n][row])));
    });
    return el(
      "table",
      { class: "list grid sides", role: "grid", "aria-label": `${plain(view.id)}, side by side` },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Event"), own.map(({ column }) => title(column)))),
      el("tbody", {}, body),
    );
  }

  function content(view, own, tapes) {
    const sides = table(view, own, tapes);
    const only = el("input", { type: "checkbox", onchange: (e) => sides.classList.toggle("differing", e.target.checked) });
    return [
      el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("a", { href: "#view=scenarios" }, "Scenarios"), el("span", { "aria-hidden": "true" }, "›"), el("span", {}, "side by side")),
      el("h1", { tabindex: "-1" }, view.id),
      view.title ? el("p", { class: "story" }, view.title) : null,
      el("p", { class: "lead" }, `${count(own.length, "recording")}, aligned by type, kind and status. A mark leads to the frame: ● is native, ○ made up by the adapter; a number is how many there are.`),
      el("label", { class: "only" }, only, "only rows in which they differ"),
      el(
        "div",
        { class: "beside" },
        el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" }, sides),
        el("section", { tabindex: "0", "aria-label": "Differences" }, el("h2", {}, "Differences"), el("div", { class: "differences" }, own.map(({ column }) => named(column)))),
      ),
    ].filter(Boolean);
  }

  /** Show a scenario. */
  async function open(name) {
    const node = byId("view-scenario");
    const [{ byId: known }, views] = await Promise.all([store.index(), store.sides()]);
    const view = views.get(name);
    const all = view ? view.columns.map((column, at) => ({ column, at })) : [];
    const own = all.filter(({ column }) => filter.passes(known.get(column.cassette)));
    shown = name;
    if (!own.length) {
      const why = view ? "No recording is left by these filters. " : `There is no scenario ${plain(name)}. `;
      node.replaceChildren(el("p", { class: "notice" }, why, el("a", { href: "#view=scenarios" }, "All scenarios")));
      return;
    }
    const tapes = await Promise.all(own.map(({ column }) => store.tape(column.cassette)));
    if (shown !== name) return;
    node.replaceChildren(...content(view, own, tapes));
    grid.rove(node.querySelector("table"));
  }

  function start() {
    filter.onchange(() => {
      if (shown && !byId("view-scenario").hidden) open(shown);
    });
  }

  harnessPage.scenario = { open, start };
})();
