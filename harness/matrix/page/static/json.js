// JSON as it stands in the cassette, indented and coloured. It is never parsed into numbers: one
// beyond a double's precision, or a key that comes twice, is shown as it was sent.
(() => {
  "use strict";
  const { append, el } = harnessPage;

  const INLINE = 72; // characters: an object or array as short as this stays on its line
  const LONG = 4000; // characters of a string that are shown at first
  const WORD = /[^\s,:[\]{}"]+/y;

  function stringEnd(text, from) {
    let at = from + 1;
    while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    return Math.min(at + 1, text.length);
  }

  /** Split JSON text: `[kind, text, size]`, where the size of a bracket is its whole length. */
  function tokens(text) {
    const found = [];
    const open = [];
    for (let at = 0; at < text.length; ) {
      const character = text[at];
      let end = at + 1;
      if (character === '"') {
        end = stringEnd(text, at);
        found.push(["string", text.slice(at, end), 0]);
      } else if ("{[".includes(character)) {
        open.push([found.length, at]);
        found.push(["open", character, 0]);
      } else if ("}]".includes(character)) {
        const [index, start] = open.pop() || [0, 0];
        found[index][2] = end - start;
        found.push(["close", character, 0]);
      } else if (",:".includes(character)) {
        if (character === ":" && found.length) found[found.length - 1][0] = "key";
        found.push([character, character, 0]);
      } else if (!/\s/.test(character)) {
        WORD.lastIndex = at;
        const word = (WORD.exec(text) || [character])[0];
        end = at + word.length;
        found.push([/^[-\d]/.test(word) ? "number" : "word", word, 0]);
      }
      at = end;
    }
    return found;
  }

  function leaf(kind, text) {
    const node = el("span", { class: `j-${kind}` });
    if (text.length <= LONG) return append(node, text);
    append(node, text.slice(0, LONG));
    const rest = text.length - LONG;
    const more = el("button", { type: "button", class: "more" }, `… ${rest.toLocaleString("en")} characters more`);
    more.addEventListener("click", () => {
      more.remove();
      append(node, text.slice(LONG));
    });
    node.append(more);
    return node;
  }

  /** Return a `pre` with the JSON text. */
  function pretty(text) {
    const node = el("pre", { class: "json" });
    let depth = 0;
    let inline = 0; // how many brackets deep in one that stays on its line
    let line = "";
    const flush = () => {
      if (line) node.append(line);
      line = "";
    };
    const all = tokens(text);
    all.forEach(([kind, value, size], index) => {
      const next = all[index + 1];
      if (kind === "open") {
        if (inline || size <= INLINE || (next && next[0] === "close")) inline += 1;
        else depth += 1;
        line += value;
        if (!inline) line += `\n${"  ".repeat(depth)}`;
      } else if (kind === "close") {
        if (inline) inline -= 1;
        else {
          depth -= 1;
          line += `\n${"  ".repeat(Math.max(depth, 0))}`;
        }
        line += value;
      } else if (kind === ",") line += inline ? ", " : `,\n${"  ".repeat(depth)}`;
      else if (kind === ":") line += ": ";
      else {
        flush();
        node.append(leaf(kind, value));
      }
    });
    flush();
    return node;
  }

  Object.assign(harnessPage, { pretty });
})();
