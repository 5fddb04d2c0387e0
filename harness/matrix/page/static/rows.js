// Long lists of frames: rows are made a hundred at a time, when they come near the window.
(() => {
  "use strict";
  const { el, pretty } = harnessPage;

  const CHUNK = 100; // rows
  const LINE = 28; // pixels of a line, as in cassette.css
  const SUMMARY = 160; // characters
  const TOLD = ["itemType", "requestType", "streamKind", "state", "status", "decision", "reason", "title", "message", "summary", "name", "model", "description"];

  function seconds(at) {
    return `${(at / 1000).toFixed(3)}s`;
  }

  /** Return what an event says, in a line. */
  function gist(event) {
    let payload;
    try {
      payload = JSON.parse(event.content);
    } catch {
      return event.content.slice(0, SUMMARY);
    }
    const told = TOLD.filter((name) => typeof payload[name] === "string").map((name) => payload[name]);
    if (typeof payload.delta === "string") told.push(JSON.stringify(payload.delta));
    return (told.length ? [...new Set(told)].join(" · ") : event.content).slice(0, SUMMARY);
  }

  function frameButton(row) {
    const inward = row.dir === "in";
    const from = inward ? "agent to client" : "client to agent";
    return el(
      "button",
      { type: "button", class: `line frame ${row.dir}`, "data-seq": row.seq, "aria-expanded": "false", tabindex: "-1" },
      el("span", { class: "seq" }, row.seq),
      el("span", { class: "at" }, seconds(row.at)),
      el("i", { "aria-hidden": "true", title: from }, inward ? "←" : "→"),
      el("span", { class: "sr" }, `${from}, ${row.channel}: `),
      el("span", { class: "kind" }, row.kind),
      el("span", { class: "gist" }, row.content.slice(0, SUMMARY)),
    );
  }

  function eventButton(event) {
    const id = event.request || event.item || event.turn || event.thread;
    return el(
      "button",
      {
        type: "button",
        class: "line event",
        "data-event": event.number,
        "data-of": event.frame,
        "data-item": event.item || null,
        "data-request": event.request || null,
        "aria-expanded": "false",
        tabindex: "-1",
      },
      el("span", { class: "kind" }, event.type),
      el("span", { class: "gist" }, gist(event)),
      event.messageType === "synthesized" ? el("span", { class: "badge" }, "synthesized") : null,
      id ? el("span", { class: "id" }, id) : null,
    );
  }

  function why(row, reasons) {
    if (row.events.length) return null;
    const reason = reasons[row.kind];
    return el("span", { class: "why" }, reason ? `ignored: ${reason}` : "no event");
  }

  function rowNode(row, reasons) {
    return el(
      "div",
      { class: `row${row.events.length ? "" : " quiet"}`, "data-row": row.seq },
      el("div", { class: "native" }, frameButton(row)),
      el("div", { class: "caused" }, row.events.map(eventButton), why(row, reasons)),
    );
  }

  function fact(name, value) {
    return value ? [el("dt", {}, name), el("dd", {}, value)] : [];
  }

  function frameDetail(row) {
    return [
      el("dl", { class: "facts" }, fact("channel", row.channel), fact("holds", { data: "JSON", text: "text", b64: "base64" }[row.field])),
      pretty(row.content),
    ];
  }

  function eventDetail(event) {
    const ids = [event.thread, event.turn, event.item, event.request].filter(Boolean).join(" ");
    const refs = Object.entries(event.refs).map(([k, v]) => `${k.replace("provider", "").toLowerCase()} ${v}`);
    return [
      el(
        "dl",
        { class: "facts" },
        fact("event", `evt-${event.number}`),
        fact("ids", ids),
        fact("native ids", refs.join(", ")),
        fact("source", event.source),
        fact("method", event.method),
        fact("message", event.messageType),
      ),
      pretty(event.content),
    ];
  }

  /** Open or close the detail of a line. */
  function toggle(button, tape, open) {
    const now = button.getAttribute("aria-expanded") === "true";
    if (now === open) return;
    button.setAttribute("aria-expanded", String(open));
    if (!open) {
      button.nextElementSibling.remove();
      return;
    }
    const row = tape.bySeq.get(Number(button.dataset.seq || button.dataset.of));
    const event = row.events.find((e) => e.number === Number(button.dataset.event));
    button.after(el("div", { class: "detail" }, event ? eventDetail(event) : frameDetail(row)));
  }

  class List {
    /** `rows` are those of the tape that are to be shown. */
    constructor(tape, rows, onfill) {
      this.tape = tape;
      this.rows = rows;
      this.onfill = onfill;
      this.node = el("div", { class: "rows" });
      this.at = new Map(rows.map((row, index) => [row.seq, index]));
      this.seen = new IntersectionObserver(
        (entries) => entries.forEach((e) => e.isIntersecting && this.fill(e.target)),
        { rootMargin: "1200px 0px" },
      );
      const narrow = matchMedia("(max-width: 760px)").matches;
      for (let from = 0; from < rows.length; from += CHUNK) {
        const part = rows.slice(from, from + CHUNK);
        const lines = part.reduce((sum, r) => sum + (narrow ? 1 + Math.max(1, r.events.length) : Math.max(1, r.events.length)), 0);
        const chunk = el("div", { class: "chunk", "data-from": from });
        chunk.style.minHeight = `${lines * (LINE + 1)}px`;
        this.node.append(chunk);
        this.seen.observe(chunk);
      }
    }

    fill(chunk) {
      this.seen.unobserve(chunk);
      if (chunk.firstChild) return;
      const from = Number(chunk.dataset.from);
      chunk.append(...this.rows.slice(from, from + CHUNK).map((row) => rowNode(row, this.tape.why)));
      chunk.style.minHeight = "";
      this.onfill();
    }

    /** Return the row of a frame, made if need be; or null where the list does not have it. */
    row(seq) {
      const index = this.at.get(seq);
      if (index === undefined) return null;
      const chunk = this.node.children[Math.floor(index / CHUNK)];
      this.fill(chunk);
      return chunk.children[index % CHUNK];
    }

    /** Return the row `by` rows from that of a frame. */
    beside(seq, by) {
      const index = Math.max(0, Math.min(this.rows.length - 1, this.at.get(seq) + by));
      return this.row(this.rows[index].seq);
    }

    close() {
      this.seen.disconnect();
    }
  }

  Object.assign(harnessPage, { List, toggle });
})();
