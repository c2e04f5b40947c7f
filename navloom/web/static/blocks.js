/* One renderer a block, by the name of its class; nothing here knows a kind of run. */
"use strict";

(function () {
  const { el, fill } = Navloom;
  const CLOSED = new Set(["block"]);

  /** A block as an element; what this page does not know is shown as it is. */
  Navloom.block = function (block, context) {
    const draw = Navloom.blocks[block.block];
    const inside = draw && !CLOSED.has(block.block)
      ? draw(block, context)
      : el("pre", {}, JSON.stringify(block, null, 1));
    const content = [
      block.title && !(block.block === "Grid" && block.folded)
        ? el("h" + (context.level || 2), {}, block.title) : null,
      inside,
      block.note ? el("p", { class: "note" }, block.note) : null,
    ];
    const made = block.folded
      ? el("details", {}, el("summary", {}, block.folded), content)
      : content;
    return el("section", { class: "block block-" + block.block }, made);
  };

  Navloom.blocksOf = function (blocks, context) {
    return (blocks || []).map((block) => Navloom.block(block, context));
  };

  /** Headings within a block are a level lower than its own, where it has one. */
  const under = (block, context) => ({ ...context, level: (context.level || 2) + (block.title ? 1 : 0) });

  Navloom.blocks.Prose = function (block) {
    const tone = block.tone || null;
    if (block.exact) return el("pre", { class: tone, tabindex: 0 }, block.text);
    return el("p", { class: tone }, tone === "bad" ? "✕ " : "", block.text);
  };

  Navloom.blocks.Facts = function (block, context) {
    return el("dl", { class: "facts" }, block.facts.map((fact) => {
      const sign = { good: "✓ ", bad: "✕ " }[fact.tone] || "";
      const value = fact.to ? el("a", { href: context.address(fact.to) }, fact.value) : fact.value;
      return el("div", {}, el("dt", {}, fact.name),
        el("dd", { class: fact.tone || null }, sign, value,
          fact.note ? el("span", { class: "note" }, " ", fact.note) : null));
    }));
  };

  Navloom.blocks.Grid = function (block, context) {
    const table = block.table;
    const pale = table.rows.length - (table.pale || 0);
    /* Numbers end at one line; words begin at one. */
    const wordy = table.header.map((_, i) => table.rows.some((row) => /^[^-+–\s\d]/.test(row[i] || "")));
    const rows = table.rows.map((row, at) => {
      const to = block.to && block.to[at];
      const cells = row.map((cell, i) => {
        const led = i === 0 && to ? el("a", { href: context.address(to) }, cell) : cell;
        const looks = (cell.length < 22 ? "short" : "") + (wordy[i] ? " text" : "");
        return el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: looks }, led);
      });
      return el("tr", { class: at >= pale ? "pale" : null }, cells);
    });
    const words = table.folded || table.rows.some((row) => row.slice(1).some((cell) => cell.length > 40));
    const made = Navloom.wide(table.title || block.title || "table",
      el("table", { class: words ? "words" : null },
        el("thead", {}, el("tr", {}, table.header.map((cell, i) => (cell
          ? el("th", { scope: "col", class: wordy[i] ? "text" : null }, cell) : el("td"))))),
        el("tbody", {}, rows)));
    const content = [
      table.title && table.title !== block.title ? el("h" + (context.level || 2), {}, table.title) : null,
      made,
      table.note ? el("p", { class: "note" }, table.note) : null,
    ];
    if (!table.folded) return el("div", {}, content);
    return el("details", {}, el("summary", {}, table.folded), content);
  };

  Navloom.blocks.Picture = function (block) {
    return el("img", { class: "picture", src: picture(block.data), alt: block.alt });
  };

  function picture(data) {
    return /^data:image\/(png|jpeg);base64,[A-Za-z0-9+/=]+$/.test(data || "") ? data : "data:,";
  }

  Navloom.blocks.Transcript = function (block) {
    return el("div", {}, block.said.map((each) => el("div", { class: "said " + (each.tone || "") },
      el("span", { class: "who" }, each.tone === "bad" ? "✕ " : "", each.who),
      el("p", {}, each.text))));
  };

  Navloom.blocks.Columns = function (block, context) {
    const inner = under(block, context);
    return el("div", { class: "beside" },
      block.columns.map((column) => el("div", {}, Navloom.blocksOf(column, inner))));
  };

  Navloom.blocks.Variants = function (block, context) {
    const place = el("div", { role: "tabpanel" });
    const names = block.variants.map(([name]) => name);
    const tabs = Navloom.tabs(names, names[0], (name) => {
      const found = block.variants.find((each) => each[0] === name);
      fill(place, Navloom.blocksOf(found[1], under(block, context)));
    });
    return el("div", {}, tabs, place);
  };

  /** Tabs: arrows go from one to the next. */
  Navloom.tabs = function (names, first, choose) {
    const buttons = names.map((name) => el("button", {
      type: "button", role: "tab", click: () => pick(name), keydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.stopPropagation();
        event.preventDefault();
        const next = names[(names.indexOf(name) + step + names.length) % names.length];
        pick(next);
        buttons[names.indexOf(next)].focus();
      },
    }, name));
    function pick(name) {
      buttons.forEach((button, at) => {
        button.setAttribute("aria-selected", String(names[at] === name));
        button.tabIndex = names[at] === name ? 0 : -1;
      });
      choose(name);
    }
    pick(first);
    return el("div", { role: "tablist" }, buttons);
  };

  /** A map, its player, and beside it what is so at the step: one frame at a time. */
  Navloom.blocks.SceneMap = function (block, context) {
    const frames = block.frames || [];
    const [strip, there, below] = [el("div", { class: "strip" }), el("h3", {}), el("div", { class: "strip" })];
    const beside = el("div", { class: "frame", "aria-live": "polite" });
    const inner = { ...context, level: 3 };
    const place = el("div", {}, el("p", { class: "quiet" }, "drawing the plan …"));
    function shown(at) {
      const frame = frames[at];
      if (!frame) return;
      const views = frame.strip || [];
      const next = views.some((seen) => seen.to_next) ? (frames[at + 1] || {}).strip || [] : [];
      fill(strip, views.map(view));
      fill(there, next.length ? "The next viewpoint" : null);
      there.hidden = below.hidden = !next.length;
      fill(below, next.map(view));
      fill(beside, el("h3", { class: frame.tone || null }, frame.tone === "bad" ? "✕ " : "", frame.title),
        Navloom.blocksOf(frame.blocks, inner));
      if (context.step) context.step(at);
    }
    const asked = Math.floor(Number(context.query.step)) || 1;
    const first = Math.max(0, Math.min(asked, frames.length) - 1);
    const beyond = frames.length && asked > frames.length
      ? el("p", { class: "note", role: "status" }, `There is no step ${asked} here: these are ${frames.length}, and this is the last.`) : null;
    const ready = context.plan(block.plan).then((drawing) => drawing, (error) => ({ error }));
    ready.then((drawing) => {
      if (drawing.error && frames.length + (block.tracks || []).length === 0) {
        fill(place, Navloom.broken(drawing.error));
        return;
      }
      const map = Navloom.map(block, drawing.error ? null : drawing, { ...context, first, onFrame: shown });
      fill(place, beyond, drawing.error ? Navloom.broken(drawing.error) : null, map.node);
      if (context.player) context.player(map);
      if (frames.length) map.show(first);
      /* Who follows a link to a step wants to see the step. */
      if (frames.length && context.query.step) place.closest(".block").scrollIntoView({ block: "start" });
    }).catch((error) => fill(place, Navloom.broken(error)));
    if (frames.length) shown(first);
    /* Where no moment has more to say than its name, the map has all the room. */
    if (!frames.some((frame) => frame.blocks || frame.strip)) return place;
    return el("div", {}, el("div", { class: "stage" }, el("div", {}, place, strip, there, below), beside));
  };

  function view(seen) {
    const markers = (seen.markers || []).map(([u, v, number, chosen]) => {
      const made = el("span", { class: "marker" + (chosen ? " chosen" : "") }, chosen ? number + "✓" : number);
      made.style.left = 100 * Math.max(0, Math.min(1, u)) + "%";
      made.style.top = 100 * Math.max(0, Math.min(1, v)) + "%";
      return made;
    });
    return el("figure", { class: seen.to_next ? "next" : null },
      seen.data ? el("div", { class: "view" }, el("img", { src: picture(seen.data), alt: seen.words || seen.name }), markers) : null,
      el("figcaption", {}, seen.name, seen.to_next ? " · the way taken" : ""),
      seen.words && !seen.data ? el("p", {}, seen.words) : null);
  }
})();
