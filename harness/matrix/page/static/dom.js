// Elements, and text that came from an agent: shown as text, with what cannot be seen made visible.
const harnessPage = {};
(() => {
  "use strict";

  // Controls, bidirectional and other format characters, line separators, odd spaces, unassigned.
  const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
  const NAMED = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

  function escaped(character) {
    if (NAMED[character]) return NAMED[character];
    const code = character.codePointAt(0);
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
  }

  /** Return `text` as one string in which nothing acts on the reader's screen. */
  function plain(text) {
    return String(text).replace(UNSEEN, escaped);
  }

  /** Append `text`; each character that cannot be seen stands as its escape, set apart. */
  function append(node, text) {
    let from = 0;
    for (const found of text.matchAll(UNSEEN)) {
      if (found.index > from) node.append(text.slice(from, found.index));
      const mark = document.createElement("span");
      mark.className = "esc";
      mark.textContent = escaped(found[0]);
      node.append(mark);
      from = found.index + found[0].length;
    }
    if (from < text.length) node.append(from ? text.slice(from) : text);
    return node;
  }

  /** Make an element. `props`: attributes, `class`, and `onclick` and the like as functions. */
  function el(tag, props = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat()) {
      if (child === null || child === undefined || child === "") continue;
      if (child instanceof Node) node.append(child);
      else append(node, String(child));
    }
    return node;
  }

  function byId(id) {
    return document.getElementById(id);
  }

  function all(selector, root = document) {
    return [...root.querySelectorAll(selector)];
  }

  /** Make the badge of a provenance ("p") or an outcome ("o"). */
  function badge(kind, text) {
    return el("span", { class: `badge ${kind}-${text.replace(/ /g, "-")}` }, text);
  }

  /** Tell a screen reader. */
  function say(text) {
    byId("status").textContent = plain(text);
  }

  function count(number, noun) {
    return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  }

  /** Return a link's address: `name=value` pairs, those without a value left out. */
  function hash(pairs) {
    const parts = Object.entries(pairs).filter(([, v]) => v !== "" && v !== null && v !== undefined);
    const value = (v) => encodeURIComponent(v).replace(/%2F/g, "/");
    return `#${parts.map(([k, v]) => `${k}=${value(v)}`).join("&")}`;
  }

  /** Return the pairs of an address. What is not well-formed is taken as it stands. */
  function pairs(address) {
    const found = {};
    for (const part of address.replace(/^#/, "").split("&")) {
      if (!part) continue;
      const at = part.indexOf("=");
      const [name, value] = at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
      try {
        found[name] = decodeURIComponent(value);
      } catch {
        found[name] = value;
      }
    }
    return found;
  }

  Object.assign(harnessPage, { all, append, badge, byId, count, el, hash, pairs, plain, say });
})();
