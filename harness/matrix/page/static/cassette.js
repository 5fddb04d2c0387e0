// A cassette: native frames beside the canonical events they caused, each lighting up the other.
(() => {
  "use strict";
  const { all, badge, byId, count, el, hash, List, plain, say, store, toggle } = harnessPage;

  let tape = null;
  let list = null;
  let origin = "";
  let wanted = "";
  let lit = null;

  function fact(name, ...value) {
    return [el("dt", {}, name), el("dd", {}, ...value)];
  }

  function ended(footer) {
    if (!footer) return "truncated";
    const how = footer.signal ? `signal ${footer.signal}` : `exit code ${footer.exit_code}`;
    return footer.complete ? how : `${how}, not complete`;
  }

  function facts(entry) {
    const { header, footer } = tape;
    const optional = (name, value) => (value && value.length ? fact(name, value) : []);
    return el(
      "dl",
      { class: "facts wide" },
      fact("provenance", badge("p", entry.provenance)),
      fact("outcome", badge("o", entry.outcome)),
      fact("agent", entry.agent),
      fact("surface", entry.surface),
      optional("protocol", header.protocol),
      fact("recorded", el("time", { datetime: header.recorded }, header.recorded)),
      fact("ended", ended(footer)),
      optional("command", (header.command || []).join(" ")),
      optional("sources", (header.sources || []).join(", ")),
      fact("size", `${count(entry.frames, "frame")}, ${count(entry.events, "event")}`),
    );
  }

  function neighbours(entry, cassettes) {
    const own = cassettes.filter((c) => c.scenario === entry.scenario);
    if (own.length < 2) return null;
    const select = el(
      "select",
      { "aria-label": "The same scenario of another agent" },
      own.map((c) => el("option", { value: c.id, selected: c.id === entry.id }, `${c.agent} (${c.surface})`)),
    );
    select.addEventListener("change", () => {
      location.hash = hash({ cassette: select.value });
    });
    return el("label", { class: "also" }, el("span", {}, "same scenario"), select);
  }

  function head(entry, { cassettes, cells: known }) {
    const up = origin
      ? el("a", { href: hash({ cell: origin }) }, `Evidence of ${known.has(origin) ? `${known.get(origin).row} × ${known.get(origin).provider}` : origin}`)
      : el("a", { href: "#view=cassettes" }, "Cassettes");
    return el(
      "div",
      { class: "head" },
      el("nav", { class: "crumbs", "aria-label": "Where this is" }, up, el("span", { "aria-hidden": "true" }, "›"), el("span", {}, `${entry.surface}/${entry.agent}`)),
      el("h1", { tabindex: "-1" }, entry.scenario),
      facts(entry),
      el(
        "div",
        { class: "tools" },
        el("input", { type: "search", id: "within", placeholder: "Find in this cassette", "aria-label": "Find in this cassette", spellcheck: "false", oninput: refill }),
        el("label", {}, el("input", { type: "checkbox", id: "quiet", onchange: refill }), "only frames with events"),
        el("output", { id: "left" }),
        neighbours(entry, cassettes),
      ),
    );
  }

  function matches(row, words, withEvents) {
    if (withEvents && !row.events.length) return false;
    if (!words) return true;
    const texts = [row.kind, row.content, ...row.events.flatMap((e) => [e.type, e.content, e.item, e.request])];
    return texts.some((text) => text.toLowerCase().includes(words));
  }

  function refill() {
    const words = byId("within").value.trim().toLowerCase();
    const rows = tape.rows.filter((row) => matches(row, words, byId("quiet").checked));
    const next = new List(tape, rows, () => lit && light(lit));
    if (list) {
      list.close();
      list.node.replaceWith(next.node);
    }
    list = next;
    byId("left").textContent = rows.length === tape.rows.length ? "" : `${rows.length} of ${count(tape.rows.length, "frame")}`;
    if (rows.length) {
      const first = list.row(rows[0].seq).querySelector(".line");
      if (first) first.tabIndex = 0;
    } else list.node.append(el("p", { class: "none" }, "No frame is left."));
    list.node.addEventListener("pointerover", (event) => light(event.target.closest(".line")));
    list.node.addEventListener("pointerleave", () => light(document.activeElement.closest(".rows .line")));
    list.node.addEventListener("focusin", (event) => enter(event.target.closest(".line")));
    list.node.addEventListener("click", (event) => click(event.target.closest(".line")));
    list.node.addEventListener("keydown", keys);
    return list.node;
  }

  // A frame lights its events; an event lights its frame and, more softly, the same item's others.
  function light(line) {
    for (const node of all(".linked, .same", list.node)) node.classList.remove("linked", "same");
    lit = line;
    if (!line || !line.isConnected) return;
    const row = line.closest(".row");
    if (line.matches(".frame")) {
      all(".line", row).forEach((node) => node.classList.add("linked"));
      return;
    }
    line.classList.add("linked");
    row.querySelector(".frame").classList.add("linked");
    const { item, request } = line.dataset;
    for (const other of all(".event", list.node)) {
      const kin = (item && other.dataset.item === item) || (request && other.dataset.request === request);
      if (!kin || other === line) continue;
      other.classList.add("same");
      const frame = other.closest(".row").querySelector(".frame");
      if (!frame.classList.contains("linked")) frame.classList.add("same");
    }
  }

  function enter(line) {
    if (!line) return;
    for (const other of all('.line[tabindex="0"]', list.node)) other.tabIndex = -1;
    line.tabIndex = 0;
    light(line);
  }

  function address(line) {
    const { seq, of, event } = line.dataset;
    return hash({ cassette: tape.id, frame: seq || of, event, cell: origin });
  }

  function select(line) {
    for (const old of all("[aria-current]", list.node)) old.removeAttribute("aria-current");
    line.setAttribute("aria-current", "true");
  }

  function click(line) {
    if (!line) return;
    const open = line.getAttribute("aria-expanded") !== "true";
    toggle(line, tape, open);
    select(line);
    // A click does not fill the history: back leads to where the reader came from.
    history.replaceState(null, "", address(line));
  }

  function keys(event) {
    const line = event.target.closest(".line");
    if (!line || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = line.closest(".row");
    const seq = Number(row.dataset.row);
    const isEvent = line.matches(".event");
    const events = all(".event", row);
    const at = events.indexOf(line);
    let to = null;
    if (event.key === "ArrowRight") to = events[0];
    else if (event.key === "ArrowLeft") to = isEvent ? row.querySelector(".frame") : null;
    else if (event.key === "Home") to = list.beside(list.rows[0].seq, 0).querySelector(".line");
    else if (event.key === "End") to = list.beside(list.rows[list.rows.length - 1].seq, 0).querySelector(".line");
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const by = event.key === "ArrowDown" ? 1 : -1;
      to = isEvent ? events[at + by] : null;
      if (!to) {
        const next = list.beside(seq, by);
        const others = isEvent ? all(".event", next) : [];
        to = others[by > 0 ? 0 : others.length - 1] || next.querySelector(".frame");
      }
    } else return;
    event.preventDefault();
    if (to) to.focus();
  }

  /** Show a frame: its row on the screen, open, and the one that is marked. */
  function jump(frame, number, focus) {
    let row = list.row(frame);
    if (!row && tape.bySeq.has(frame)) {
      byId("within").value = "";
      byId("quiet").checked = false;
      refill();
      row = list.row(frame);
    }
    if (!row) {
      say(`This cassette has no frame ${frame}.`);
      return;
    }
    const line = (number && row.querySelector(`[data-event="${number}"]`)) || row.querySelector(".frame");
    toggle(line, tape, true);
    select(line);
    enter(line);
    if (focus) line.focus({ preventScroll: true });
    line.scrollIntoView({ block: "center" });
  }

  /** Show a cassette, and a frame of it where one is given. */
  async function open({ cassette, frame, event, cell }, focus) {
    wanted = cassette;
    const view = byId("view-cassette");
    origin = cell || "";
    if (!tape || tape.id !== cassette || !view.firstChild) {
      const index = await store.index();
      const found = await store.tape(cassette);
      if (wanted !== cassette) return;
      tape = found;
      if (!tape) {
        view.replaceChildren(el("p", { class: "notice" }, `There is no cassette ${plain(cassette)}. `, el("a", { href: "#view=cassettes" }, "All cassettes")));
        return;
      }
      tape.bySeq = new Map(tape.rows.map((row) => [row.seq, row]));
      lit = null;
      list = null;
      view.replaceChildren(
        head(index.byId.get(cassette), index),
        el("div", { class: "heads", "aria-hidden": "true" }, el("span", {}, "Native frames"), el("span", {}, "Canonical events")),
      );
      view.append(refill());
      if (focus && !frame) view.querySelector("h1").focus({ preventScroll: true });
      if (!frame) scrollTo(0, 0);
    }
    document.title = `${tape.id} · Compatibility matrix`;
    if (frame) jump(Number(frame), Number(event) || 0, focus);
  }

  /** Go up: to the cell that led here, or to the list. */
  function leave() {
    location.hash = origin ? hash({ cell: origin }) : "#view=cassettes";
  }

  harnessPage.cassette = { leave, open };
})();
