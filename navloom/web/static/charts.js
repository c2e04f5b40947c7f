/* Bars and scatters: their numbers stand in words, too, and lead to what they count. */
"use strict";

(function () {
  const { el, svg, said } = Navloom;
  /* Told apart by colour and by pattern, on light and on dark. */
  const COLOURS = ["#3b7dd8", "#d9822b", "#2e9e6b", "#b4457e", "#7a5ba6", "#a58a12", "#148f97",
    "#8c3b2f", "#6b7d99", "#5f8f2f", "#c25b9a", "#8a94a0"];

  function look(names) {
    return new Map([...names].map((name, at) => [name, COLOURS[at % COLOURS.length]]));
  }

  function led(to, context, ...inside) {
    return to ? svg("a", { href: context.address(to) }, inside) : svg("g", {}, inside);
  }

  Navloom.blocks.Bars = function (block, context) {
    const names = new Set(block.bars.flatMap(([, parts]) => parts.map((part) => part.name)));
    const colours = look(names);
    const sum = (parts) => parts.reduce((all, part) => all + part.count, 0);
    const most = Math.max(1e-9, ...block.bars.map(([, parts]) => sum(parts)));
    /* As wide as its names need and its place has room for: a bar that is cut off says nothing. */
    const left = Math.min(170, 14 + 7.5 * Math.max(0, ...block.bars.map(([name]) => name.length)));
    const room = Math.min(context.level === 3 ? 250 : 560, window.innerWidth - left - 64);
    const [wide, high] = [Math.max(150, room), 26];
    const rows = block.bars.map(([name, parts], at) => {
      let x = left;
      const y = at * high + 4;
      const drawn = parts.filter((part) => part.count > 0).map((part) => {
        const w = (part.count / most) * (wide - 60);
        const words = name + ", " + part.name + ": " + said(part.count);
        const inside = [
          svg("rect", { x, y, width: Math.max(w, 1), height: high - 8, fill: colours.get(part.name),
            stroke: "var(--paper)" }),
          w > 22 ? svg("text", { x: x + w / 2, y: y + 13, "text-anchor": "middle", class: "inside" },
            said(part.count)) : null,
          svg("title", {}, words),
        ];
        x += w;
        return led(part.to, context, inside);
      });
      return [svg("text", { x: left - 8, y: y + 13, "text-anchor": "end" }, name), drawn,
        svg("text", { x: x + 6, y: y + 13, class: "quiet" }, said(sum(parts)))];
    });
    const legend = names.size > 1 || ![...names][0] === false
      ? el("ul", { class: "legend" }, [...names].map((name) => {
        const dot = svg("svg", { width: 12, height: 12, "aria-hidden": "true" },
          svg("rect", { width: 12, height: 12, fill: colours.get(name) }));
        return el("li", {}, dot, " ", name);
      }))
      : null;
    const table = el("details", {}, el("summary", {}, "as a table"), el("table", { class: "words" },
      el("tbody", {}, block.bars.flatMap(([name, parts]) => parts.map((part) => el("tr", {},
        el("th", { scope: "row" }, name), el("td", {}, part.name),
        el("td", {}, part.to ? el("a", { href: context.address(part.to) }, said(part.count)) : said(part.count))))))));
    return el("div", {}, Navloom.wide(block.title || "bars",
      svg("svg", { class: "chart", viewBox: `0 0 ${left + wide} ${block.bars.length * high + 6}`,
        width: left + wide, role: "group", "aria-label": block.title || "bars" }, rows)), legend, table);
  };

  Navloom.blocks.Scatter = function (block, context) {
    const dots = block.dots.filter((dot) => Number.isFinite(dot.x) && Number.isFinite(dot.y));
    if (!dots.length) return el("p", { class: "quiet" }, "no points");
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    let [lowX, highX] = ends(dots.map((dot) => dot.x));
    let [lowY, highY] = ends(dots.map((dot) => dot.y));
    if (block.diagonal) {
      [lowX, highX] = ends([lowX, highX, lowY, highY]);
      [lowY, highY] = [lowX, highX];
    }
    const size = 340;
    const x = (value) => 46 + ((value - lowX) / (highX - lowX || 1)) * (size - 60);
    const y = (value) => size - 36 - ((value - lowY) / (highY - lowY || 1)) * (size - 50);
    const places = new Map();
    for (const dot of dots) {
      const at = x(dot.x).toFixed(0) + "," + y(dot.y).toFixed(0);
      places.set(at, [...(places.get(at) || []), dot]);
    }
    const marks = [...places.values()].map((here) => led(here[0].to, context,
      svg("circle", { cx: x(here[0].x), cy: y(here[0].y), r: 3 + Math.min(7, Math.sqrt(here.length)),
        fill: COLOURS[0], "fill-opacity": 0.55, stroke: COLOURS[0] }),
      svg("title", {}, here.slice(0, 8).map((dot) => dot.name).join(", ")
        + (here.length > 8 ? " and " + (here.length - 8) + " more" : "")
        + ": " + said(here[0].x) + ", " + said(here[0].y))));
    const line = block.diagonal
      ? svg("line", { x1: x(lowX), y1: y(lowY), x2: x(highX), y2: y(highY), class: "axis", "stroke-dasharray": "4 4" })
      : null;
    return Navloom.wide(block.title || block.y + " by " + block.x, svg("svg", { class: "chart", viewBox: `0 0 ${size} ${size}`,
      width: size, role: "group", "aria-label": block.title || block.y + " by " + block.x },
    svg("line", { x1: 46, y1: size - 36, x2: size - 10, y2: size - 36, class: "axis" }),
    svg("line", { x1: 46, y1: 10, x2: 46, y2: size - 36, class: "axis" }), line,
    svg("text", { x: 46, y: size - 20, class: "quiet" }, said(lowX)),
    svg("text", { x: size - 12, y: size - 20, "text-anchor": "end", class: "quiet" }, said(highX)),
    svg("text", { x: 42, y: size - 38, "text-anchor": "end", class: "quiet" }, said(lowY)),
    svg("text", { x: 42, y: 18, "text-anchor": "end", class: "quiet" }, said(highY)),
    svg("text", { x: size / 2, y: size - 5, "text-anchor": "middle" }, block.x),
    svg("text", { x: 4, y: size / 2, transform: `rotate(-90 12 ${size / 2})`, "text-anchor": "middle" }, block.y),
    marks));
  };
})();
