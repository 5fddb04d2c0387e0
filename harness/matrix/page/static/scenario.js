// One scenario, side by side: what each agent's recording came to, row by row, aligned.
(() => {
  "use strict";
  const { badge, byId, count, el, filter, hash, plain, store } = harnessPage;

  const MOST = 600; // rows of one recording that are aligned
  let shown = "";

  /** What an event is here: its type, the kind of its item, request or stream, and how it stands. */
  function keyOf(event) {
    let payload = {};
    try {
      payload = JSON.parse(event.content);
    } catch {
      // Its type alone, then.
    }
    const kind = payload.itemType || payload.requestType || payload.streamKind || "";
    const state = payload.status || payload.state || "";
    return [event.type, kind, state].map((part) => (typeof part === "string" ? part : "")).join(" ");
  }

  /** A recording as steps: events that only repeat the one before are one step. */
  function skeleton(tape) {
    const steps = [];
    for (const row of tape.rows) {
      for (const event of row.events) {
        const key = keyOf(event);
        const last = steps[steps.length - 1];
        if (last && last.key === key) last.times += 1;
        else if (steps.length < MOST) steps.push({ key, frame: row.seq, event: event.number, times: 1 });
      }
    }
    return steps;
  }

  /** Return pairs of indices: the longest common subsequence of two lists of keys. */
  function common(one, other) {
    const width = other.length + 1;
    const best = new Uint16Array((one.length + 1) * width);
    for (let i = one.length - 1; i >= 0; i -= 1) {
      for (let j = other.length - 1; j >= 0; j -= 1) {
        const here = i * width + j;
        best[here] = one[i] === other[j] ? best[here + width + 1] + 1 : Math.max(best[here + width], best[here + 1]);
      }
    }
    const found = [];
    for (let i = 0, j = 0; i < one.length && j < other.length; ) {
      if (one[i] === other[j]) found.push([i++, j++]);
      else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i += 1;
      else j += 1;
    }
    return found;
  }

  /** Align the recordings: rows of `{key, steps}`, a step or nothing for each of them. */
  function align(skeletons) {
    let rows = [];
    skeletons.forEach((steps, column) => {
      const matched = common(rows.map((r) => r.key), steps.map((s) => s.key));
      const next = [];
      let i = 0;
      let j = 0;
      for (const [atRow, atStep] of [...matched, [rows.length, steps.length]]) {
        while (i < atRow) next.push(rows[i++]);
        while (j < atStep) next.push({ key: steps[j].key, steps: { [column]: steps[j++] } });
        if (i >= rows.length) break;
        rows[i].steps[column] = steps[j++];
        next.push(rows[i++]);
      }
      rows = next;
    });
    return rows;
  }

  function cell(step, cassette) {
    if (!step) return el("td", { class: "absent" }, el("span", { class: "sr" }, "nothing"));
    const address = hash({ cassette: cassette.id, frame: step.frame, event: step.event });
    const label = `${cassette.agent}: frame ${step.frame}${step.times > 1 ? `, ${step.times} times` : ""}`;
    return el("td", {}, el("a", { class: "step", href: address, "aria-label": label, title: label }, step.times > 1 ? `×${step.times}` : "●"));
  }

  function rowHead(key) {
    const [type, kind, state] = key.split(" ");
    return el("th", { scope: "row" }, el("code", {}, type), kind ? el("span", { class: "dim" }, ` ${kind}`) : null, state ? el("small", {}, state) : null);
  }

  function title(cassette) {
    return el(
      "th",
      { scope: "col", class: "tall" },
      el("a", { href: hash({ cassette: cassette.id }) }, el("span", {}, cassette.agent, el("small", {}, cassette.surface))),
    );
  }

  /** In words: which kinds of step most have and this one lacks, and which it alone has. */
  function differences(rows, columns) {
    const kindOf = (key) => key.split(" ").slice(0, 2).join(" ").trim();
    const has = columns.map((_, at) => new Set(rows.filter((r) => r.steps[at]).map((r) => kindOf(r.key))));
    const kinds = [...new Set(rows.map((r) => kindOf(r.key)))];
    return columns.map((cassette, at) => {
      const others = (kind) => has.filter((own) => own.has(kind)).length;
      const lacks = kinds.filter((k) => !has[at].has(k) && others(k) * 2 > columns.length);
      const alone = kinds.filter((k) => has[at].has(k) && others(k) === 1 && columns.length > 2);
      return { cassette, lacks, alone };
    });
  }

  function named(found) {
    const list = (words, kinds) => (kinds.length ? el("p", {}, `${words} `, kinds.map((k, at) => [at ? ", " : "", el("code", {}, k)]).flat()) : null);
    return found.map(({ cassette, lacks, alone }) =>
      el(
        "div",
        { class: "differs" },
        el("h3", {}, cassette.agent, el("small", {}, cassette.surface), badge("o", cassette.outcome)),
        list("has no", lacks),
        list("alone has", alone),
        lacks.length || alone.length ? null : el("p", { class: "dim" }, "as most"),
      ),
    );
  }

  /** Show a scenario. */
  async function open(name) {
    const view = byId("view-scenario");
    const { cassettes } = await store.index();
    const all = cassettes.filter((c) => c.scenario === name);
    const own = all.filter(filter.passes);
    shown = name;
    if (!own.length) {
      const why = all.length ? "No recording is left by these filters. " : `There is no scenario ${plain(name)}. `;
      view.replaceChildren(el("p", { class: "notice" }, why, el("a", { href: "#view=scenarios" }, "All scenarios")));
      return;
    }
    const tapes = await Promise.all(own.map((c) => store.tape(c.id)));
    if (shown !== name) return;
    const rows = align(tapes.map(skeleton));
    const body = rows.map((row) => {
      const same = own.every((_, at) => row.steps[at]);
      return el("tr", { class: same ? "agreed" : "" }, rowHead(row.key), own.map((c, at) => cell(row.steps[at], c)));
    });
    const table = el(
      "table",
      { class: "list grid sides", "aria-label": `${plain(name)}, side by side` },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Event"), own.map(title))),
      el("tbody", {}, body),
    );
    view.replaceChildren(
      el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("a", { href: "#view=scenarios" }, "Scenarios"), el("span", { "aria-hidden": "true" }, "›"), el("span", {}, "side by side")),
      el("h1", { tabindex: "-1" }, name),
      el("p", { class: "lead" }, `${count(own.length, "recording")}, aligned by type, kind and state. A mark leads to the frame; a number is how often the same came in a row.`),
      el("label", { class: "only" }, el("input", { type: "checkbox", onchange: (e) => table.classList.toggle("differing", e.target.checked) }), "only rows in which they differ"),
      el(
        "div",
        { class: "beside" },
        el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" }, table),
        el("section", { tabindex: "0", "aria-label": "Differences" }, el("h2", {}, "Differences"), el("div", { class: "differences" }, named(differences(rows, own)))),
      ),
    );
  }

  function start() {
    filter.onchange(() => {
      if (shown && !byId("view-scenario").hidden) open(shown);
    });
  }

  harnessPage.scenario = { open, start };
})();
