// What is in the page compressed: unpacked when it is asked for, and kept.
(() => {
  "use strict";

  const texts = new Map();
  const bundles = new Map();
  let known = null;

  async function unpack(name) {
    const holder = document.querySelector(`script[data-blob="${name}"]`);
    if (!holder) throw new Error(`the page holds no ${name}`);
    const packed = Uint8Array.from(atob(holder.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function text(name) {
    if (!texts.has(name)) texts.set(name, unpack(name));
    return texts.get(name);
  }

  /** Return `{cassettes, cells, icons, byId}`: view.py says what is in them. */
  async function index() {
    if (!known) {
      const value = JSON.parse(await text("index"));
      value.cells = new Map(Object.entries(value.cells));
      value.byId = new Map(value.cassettes.map((c) => [c.id, c]));
      known = value;
    }
    return known;
  }

  function event(line, tab) {
    const [number, frame, type, source, method, messageType, ids, refs] = JSON.parse(line.slice(1, tab));
    const [thread, turn, item, request] = ids;
    return { number, frame, type, source, method, messageType, thread, turn, item, request, refs, content: line.slice(tab + 1) };
  }

  function read(all) {
    const found = new Map();
    let tape = null;
    for (const line of all.split("\n")) {
      if (line[0] === "C") {
        tape = { ...JSON.parse(line.slice(1)), rows: [] };
        found.set(tape.id, tape);
        continue;
      }
      const tab = line.indexOf("\t");
      if (line[0] === "F") {
        const [seq, at, dir, channel, kind, field] = JSON.parse(line.slice(1, tab));
        const name = tape.kinds[kind];
        tape.rows.push({ seq, at, dir, channel, field, kind: name, content: line.slice(tab + 1), events: [] });
      } else if (line[0] === "E" && tape.rows.length) {
        tape.rows[tape.rows.length - 1].events.push(event(line, tab));
      }
    }
    return found;
  }

  function bundle(number) {
    const name = `b${number}`;
    if (!bundles.has(name)) bundles.set(name, text(name).then(read));
    return bundles.get(name);
  }

  /** Return a cassette with its rows: a frame each, with the events that it caused; or null. */
  async function tape(id) {
    const entry = (await index()).byId.get(id);
    return entry ? (await bundle(entry.bundle)).get(id) || null : null;
  }

  /** Return the scenarios side by side, by id. */
  async function sides() {
    return new Map(Object.entries(JSON.parse(await text("sides"))));
  }

  harnessPage.store = { bundle, index, sides, tape, text };
})();
