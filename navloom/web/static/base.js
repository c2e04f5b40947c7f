/* What every other script builds on: elements, numbers as people read them, documents. */
"use strict";

const Navloom = { blocks: {}, pages: {}, packs: new Map(), offline: false };

(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const REFUSED = new Set(["style", "srcdoc", "formaction"]);

  function put(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") {
        node.addEventListener(name.replace(/^on/, ""), value);
        continue;
      }
      if (name.startsWith("on") || REFUSED.has(name)) throw new Error("no attribute " + name);
      if (name === "href" && !/^(#|blob:|data:image\/|static\/)/.test(String(value))) {
        throw new Error("no address outside");
      }
      node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return node;
  }

  /** An element; what is no node among its children is text, and stays text. */
  Navloom.el = function (tag, attributes, ...children) {
    if (tag === "script" || tag === "iframe" || tag === "object") throw new Error("no " + tag);
    return put(document.createElement(tag), attributes, children);
  };

  /** The same of SVG. */
  Navloom.svg = function (tag, attributes, ...children) {
    if (tag === "script" || tag === "foreignObject") throw new Error("no " + tag);
    return put(document.createElementNS(SVG, tag), attributes, children);
  };

  /** Replace what a node holds. */
  Navloom.fill = function (node, ...children) {
    node.replaceChildren();
    return put(node, {}, children);
  };

  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const NOTHING = "–";
  Navloom.NOTHING = NOTHING;

  /** A value as people read it, by its column's form. */
  Navloom.said = function (value, form) {
    if (value === null || value === undefined || value === "") return NOTHING;
    if (Array.isArray(value)) return value.length ? value.join(", ") : NOTHING;
    if (value === true) return "yes";
    if (value === false) return "no";
    if (typeof value !== "number") return String(value);
    if (form === "share") return (100 * value).toFixed(1) + "%";
    if (form === "metres") return value.toFixed(2) + " m";
    if (form === "seconds") return value < 10 ? value.toFixed(2) + " s" : whole.format(value) + " s";
    if (form === "dollars") return value ? "$" + value.toFixed(value < 1 ? 4 : 2) : "$0";
    if (form === "count" || Number.isInteger(value)) return whole.format(value);
    return Math.abs(value) < 0.01 && value ? value.toPrecision(2) : value.toFixed(2);
  };

  Navloom.plural = function (count, word) {
    return whole.format(count) + " " + word + (count === 1 ? "" : "s");
  };

  /* Documents: asked of the server, or of the packs that a bundle brings. */

  const kept = new Map();
  const MOST_KEPT = 60;

  function keep(path, promise) {
    kept.delete(path);
    kept.set(path, promise);
    promise.catch(() => kept.delete(path));
    while (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
    return promise;
  }

  /** A document by its path; the same answer again while it is kept. */
  Navloom.doc = function (path, fresh) {
    if (!fresh && kept.has(path)) return keep(path, kept.get(path));
    return keep(path, Navloom.offline ? fromPacks(path) : fromServer(path));
  };

  Navloom.forget = function (start) {
    for (const path of [...kept.keys()]) if (path.startsWith(start)) kept.delete(path);
  };

  function encoded(path) {
    return path.split("/").map(encodeURIComponent).join("/");
  }

  Navloom.ask = function (path, options) {
    const headers = { "X-Navloom-Token": Navloom.token() };
    return fetch(path, { headers, cache: "no-store", ...options });
  };

  async function fromServer(path) {
    return answered(Navloom.ask("doc/" + encoded(path) + ".json"));
  }

  async function answered(asked) {
    let answer;
    try {
      answer = await asked;
    } catch {
      throw new Error("The server does not answer: is it still running?");
    }
    const told = await answer.json().catch(() => null);
    if (!answer.ok) throw Object.assign(new Error((told && told.error) || "The server said " + answer.status), { status: answer.status });
    return told;
  }

  /** What a room answers to a path, such as "chat/threads". */
  Navloom.room = function (path) {
    return answered(Navloom.ask(encoded(path)));
  };

  /** Tell a room something; what it answers. */
  Navloom.post = function (path, body) {
    const headers = { "X-Navloom-Token": Navloom.token(), "Content-Type": "application/json" };
    return answered(Navloom.ask(encoded(path), { method: "POST", headers, body: JSON.stringify(body) }));
  };

  async function fromPacks(path) {
    const number = hashed(path) % Navloom.offline.packs;
    if (!Navloom.packs.has(number)) Navloom.packs.set(number, unpacked(number));
    const pack = await Navloom.packs.get(number);
    if (!(path in pack)) throw new Error("This bundle has no " + path + ".");
    if (pack[path] && pack[path].error) throw new Error(pack[path].error);
    const told = structuredClone(pack[path]);
    /* What many samples have is kept once. */
    const again = (block) => typeof block.same === "number";
    if (told && Array.isArray(told.blocks) && told.blocks.some(again)) {
      const same = await fromPacks("same");
      told.blocks = told.blocks.map((block) => (again(block) ? same[block.same] : block));
    }
    return told;
  }

  const waiting = new Map();

  /** A pack calls this as it is loaded. */
  Navloom.give = function (number, text) {
    const waits = waiting.get(number);
    waiting.delete(number);
    if (waits) waits(text);
  };

  async function unpacked(number) {
    const inside = document.getElementById("pack-" + number);
    const text = inside ? inside.textContent : await loaded(number);
    const bytes = Uint8Array.from(atob(text.trim()), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  function loaded(number) {
    return new Promise((resolve, reject) => {
      waiting.set(number, resolve);
      const script = document.createElement("script");
      script.src = "doc/pack-" + number + ".js";
      script.onerror = () => {
        Navloom.packs.delete(number);
        reject(new Error("doc/pack-" + number + ".js is missing: copy the whole folder."));
      };
      document.head.append(script);
    });
  }

  /** FNV-1a over UTF-8: in which pack a document lies; documents.py counts the same. */
  function hashed(path) {
    let hash = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(path)) {
      hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    }
    return hash;
  }

  /* The token: handed over in the address's fragment, kept for this origin, sent as a header. A
     rater's is kept for the tab alone, since several may rate on one machine. */

  const [KEY, RATER] = ["navloom-token", "navloom-rater"];
  let [token, rater] = ["", ""];

  /** What a storage holds, and keeps from now on where something is given. */
  Navloom.kept = function (storage, key, given) {
    try {
      const held = window[storage + "Storage"];
      if (given === null) held.removeItem(key);
      else if (given !== undefined) held.setItem(key, given);
      return held.getItem(key) || "";
    } catch {
      return given || "";
    }
  };

  Navloom.token = function () {
    const handed = /^#(token|rater)=([A-Za-z0-9_-]{8,200})(?:&to=(.*))?$/.exec(location.hash);
    if (token && !handed) return token;
    const rated = handed && handed[1] === "rater";
    if (handed) history.replaceState(null, "", "#" + (rated ? "/people" : handed[3] || "/"));
    rater = Navloom.kept("session", RATER, rated ? handed[2] : handed ? null : undefined);
    token = rater || Navloom.kept("local", KEY, handed ? handed[2] : undefined);
    return token;
  };

  /** Whether this tab is a rater's, who is shown the rater's form alone. */
  Navloom.rating = () => Boolean(Navloom.offline.people || rater);

  /** A line that is read out, too. */
  Navloom.tell = function (words, tone) {
    const place = document.getElementById("told");
    if (place) Navloom.fill(place, Navloom.el("p", { class: tone || "plain" }, words));
  };

  /** What may be broader than the page, and is then scrolled, also by keys. */
  Navloom.wide = function (label, ...inside) {
    return Navloom.el("div", { class: "wide", tabindex: 0, role: "group", "aria-label": label }, inside);
  };

  /** What stands where a document could not be had. */
  Navloom.broken = function (error) {
    return Navloom.el("p", { class: "bad", role: "alert" }, "✕ ", error.message || String(error));
  };
})();
