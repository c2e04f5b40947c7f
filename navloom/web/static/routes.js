/* What lies on a plan: routes side by side where they share a stretch, marks that do not hide one another. */
"use strict";

(function () {
  const { svg } = Navloom;
  const PLAIN = ["#444444", [], 1.2, 2.6];
  const UNKNOWN = ["o", "#ffffff", 8, ""];
  const WIDEST = 13;
  const MANY = 4;
  const PASSAGES = new Set(["other", "unknown"]);
  const MOST_NUMBERED = 60;
  const near = (value) => Math.round(value * 20);
  const keyOf = ([floor, x, z]) => floor + "," + near(x) + "," + near(z);

  /** How routes and marks look: what the drawing says, and something for what it does not. */
  Navloom.looksOf = function (looks) {
    const { routes = {}, marks = {}, signs = {}, lane = 2.6, arrow = [5.5, 7, 42] } = looks || {};
    const own = (held, name) => (Object.prototype.hasOwnProperty.call(held, name) ? held[name] : null);
    return {
      lane, arrow,
      route: (style) => own(routes, style) || PLAIN,
      mark: (kind) => own(marks, kind) || [UNKNOWN[0], UNKNOWN[1], UNKNOWN[2], String(kind).replace(/_/g, " ")],
      sign: (name) => own(signs, name) || [],
    };
  };

  /** Black or white, whichever is read better on a colour. */
  Navloom.inkOn = function (colour) {
    const parts = (/^#(..)(..)(..)$/.exec(colour) || [0, "ff", "ff", "ff"]).slice(1).map((part) => parseInt(part, 16) / 255);
    const [r, g, b] = parts.map((each) => (each <= 0.04 ? each / 12.9 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2 ? "#000000" : "#ffffff";
  };

  /** A sign of so many metres at (x, y). */
  Navloom.sign = function (looks, marker, x, y, size, attributes) {
    const corners = looks.sign(marker);
    if (!corners.length) return svg("circle", { cx: x, cy: y, r: size / 2, ...attributes });
    const points = corners.map(([u, v]) => (x + u * size).toFixed(3) + "," + (y + v * size).toFixed(3));
    return svg("polygon", { points: points.join(" "), "stroke-linejoin": "round", ...attributes });
  };

  /**
   * How far each step of each route lies from its edge's middle, in points, and how often an edge
   * is gone along, where so many lines lie close. The side is counted from the edge's own direction, not the walker's, so that
   * going and coming back are told apart as well as two robots are.
   */
  function lanesOf(routes, lane) {
    const edges = new Map();
    routes.forEach((route, number) => route.points.slice(1).forEach((b, i) => {
      const ends = [keyOf(route.points[i]), keyOf(b)];
      if (ends[0] === ends[1]) return;
      const forward = ends[0] < ends[1];
      const key = (forward ? ends : ends.reverse()).join(";");
      if (!edges.has(key)) edges.set(key, []);
      edges.get(key).push({ number, i, forward });
    }));
    const shifts = new Map();
    const counts = [];
    for (const steps of edges.values()) {
      const apart = Math.min(lane, WIDEST / Math.max(1, steps.length - 1));
      steps.forEach(({ number, i, forward }, rank) =>
        shifts.set(number + "," + i, (forward ? 1 : -1) * (rank - (steps.length - 1) / 2) * apart));
      if (steps.length >= MANY) counts.push({ ...steps[0], times: steps.length });
    }
    return { shifts, counts };
  }

  /** The stretches of points[first..last] on a floor; a step between floors shows its half. */
  function runsOn(route, first, last, floor) {
    const runs = [];
    let run = null;
    for (let i = first; i < last; i++) {
      const [[fa, xa, za], [fb, xb, zb]] = [route.points[i], route.points[i + 1]];
      if (fa !== floor && fb !== floor) {
        run = null;
        continue;
      }
      const middle = [(xa + xb) / 2, (za + zb) / 2];
      const a = fa === floor ? [xa, za] : middle;
      const b = fb === floor ? [xb, zb] : middle;
      if (!run || fa !== floor) runs.push(run = { points: [a], steps: [] });
      run.points.push(b);
      run.steps.push(i);
      if (fb !== floor) run = null;
    }
    return runs;
  }

  /** A line with each step moved to its side by its shift, joints in between. */
  function shifted(points, shifts) {
    const kept = [points[0]];
    const moves = [];
    points.slice(1).forEach(([x, y], i) => {
      const [px, py] = kept[kept.length - 1];
      const long = Math.hypot(x - px, y - py);
      if (long < 1e-6) return;
      moves.push([((y - py) / long) * shifts[i], (-(x - px) / long) * shifts[i]]);
      kept.push([x, y]);
    });
    return moves.length ? kept.map(([x, y], i) => {
      const [u, v] = [moves[Math.max(0, i - 1)], moves[Math.min(i, moves.length - 1)]];
      return [x + (u[0] + v[0]) / 2, y + (u[1] + v[1]) / 2];
    }) : null;
  }

  const pathOf = (line) => "M" + line.map(([x, y]) => x.toFixed(3) + " " + y.toFixed(3)).join("L");

  /** [x, y, angle] along a line, evenly spread. */
  function along(line, every) {
    const steps = line.slice(1).map(([x, y], i) => [line[i][0], line[i][1], x - line[i][0], y - line[i][1]]);
    const longs = steps.map(([, , dx, dy]) => Math.hypot(dx, dy));
    const whole = longs.reduce((sum, each) => sum + each, 0);
    const count = Math.min(200, Math.max(1, Math.round(whole / every)));
    const found = [];
    for (let k = 0, i = 0, gone = 0; k < count; k++) {
      const at = ((k + 0.5) * whole) / count;
      while (i < steps.length - 1 && gone + longs[i] < at) gone += longs[i++];
      const [x, y, dx, dy] = steps[i];
      const part = (at - gone) / longs[i];
      found.push([x + dx * part, y + dy * part, Math.atan2(dy, dx)]);
    }
    return found;
  }

  function arrow([x, y, angle], size, colour, edge) {
    const corners = [0, 2.3, -2.3].map((turn) =>
      (x + (size / 2) * Math.cos(angle + turn)).toFixed(3) + "," + (y + (size / 2) * Math.sin(angle + turn)).toFixed(3));
    return svg("polygon", { points: corners.join(" "), fill: colour, stroke: "#ffffff", "stroke-width": edge });
  }

  /** One stretch: white around it under all lines, the line, arrows; a closed way is crossed by bars. */
  function stroke(under, layer, line, route, carried, looks, point) {
    const [colour, dash, thin, thick] = looks.route(route.style);
    const width = (carried ? thick : thin) * point;
    const shared = { d: pathOf(line), fill: "none", "stroke-linejoin": "round" };
    under.append(svg("path", { ...shared, stroke: "#ffffff", "stroke-opacity": 0.7, "stroke-width": width + 1.2 * point }));
    layer.append(svg("path", { ...shared, stroke: colour, "stroke-width": width,
        "stroke-dasharray": dash.length ? dash.map((each) => each * width).join(" ") : null },
      svg("title", {}, route.name + (carried ? ", carrying" : ""))));
    const cut = route.style === "cut";
    // A passage between two places is gone both ways.
    if (!cut && route.points.length === 2 && PASSAGES.has(route.style)) return;
    for (const spot of along(line, looks.arrow[2] * point)) {
      if (!cut) layer.append(arrow(spot, looks.arrow[carried ? 1 : 0] * point, colour, 0.5 * point));
      else {
        const [x, y, angle] = spot;
        const [dx, dy] = [3.5 * point * Math.cos(angle + 1.2), 3.5 * point * Math.sin(angle + 1.2)];
        layer.append(svg("path", { d: pathOf([[x - dx, y - dy], [x + dx, y + dy]]), stroke: colour, "stroke-width": 1.6 * point }));
      }
    }
  }

  const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

  function word(text, x, y, size, attributes) {
    return svg("text", { x, y: y + 0.35 * size, "font-size": size, "paint-order": "stroke", stroke: "#ffffff",
      "stroke-width": 0.25 * size, "stroke-linejoin": "round", ...attributes }, text);
  }

  /** Where routes leave and reach a floor, in words, off what is taken. */
  function stairs(layer, routes, floor, looks, point, taken) {
    const said = new Set();
    const size = 6.5 * point;
    for (const route of routes) {
      route.points.slice(1).forEach(([fb, xb, zb], i) => {
        const [fa, xa, za] = route.points[i];
        if (fa === fb || (fa !== floor && fb !== floor)) return;
        const words = fa === floor ? "to floor " + fb : "from floor " + fa;
        const [x, y] = [(xa + xb) / 2, (za + zb) / 2];
        const key = [near(x), near(y), words].join();
        if (said.has(key)) return;
        said.add(key);
        const [left, wide] = [x + 5 * point, 0.52 * size * words.length];
        let low = y;
        const clash = (box) => meet(box, [left, low - size / 2, left + wide, low + size / 2]);
        for (let tries = 0; tries < 12 && taken.some(clash); tries++) low += 0.5 * size;
        taken.push([left, low - size / 2, left + wide, low + size / 2]);
        layer.append(word(words, left, low, size, { fill: looks.route(route.style)[0], "font-style": "italic" }));
      });
    }
  }

  /** Draw the parts of routes on the view's floor; gives {taken, crossed}: boxes of words, and along lines. */
  Navloom.drawRoutes = function (view, routes, looks) {
    const [layer, point] = [view.layers.routes, view.point()];
    const under = svg("g", {});
    const [taken, crossed] = [view.nameBoxes(), []];
    layer.replaceChildren(under);
    const { shifts, counts } = lanesOf(routes, looks.lane);
    routes.forEach((route, number) => {
      const last = route.points.length - 1;
      const from = route.carried_from;
      const split = from === null || from === undefined ? last : Math.min(from, last);
      for (const [a, b, carried] of [[0, split, false], [split, last, true]]) {
        for (const run of runsOn(route, a, b, view.id)) {
          const line = shifted(run.points, run.steps.map((i) => (shifts.get(number + "," + i) || 0) * point));
          if (!line) continue;
          stroke(under, layer, line, route, carried, looks, point);
          for (const [x, y] of along(line, 5 * point)) crossed.push([x - point, y - point, x + point, y + point]);
        }
      }
    });
    for (const { number, i, times } of counts) {
      const [[fa, xa, za], [fb, xb, zb]] = routes[number].points.slice(i, i + 2);
      if (fa !== view.id || fb !== view.id) continue;
      layer.append(word(times + "×", (xa + xb) / 2, (za + zb) / 2, 7 * point,
        { fill: "#1d1d1d", "font-weight": "bold", "text-anchor": "middle" }));
    }
    stairs(layer, routes, view.id, looks, point, taken);
    return { taken, crossed };
  };

  function freeSpot(x, y, radius, placed) {
    for (let ring = 0; ring < 4; ring++) {
      for (let turn = 0; turn < (ring ? 8 : 1); turn++) {
        const [px, py] = [x + ring * radius * 1.1 * Math.cos((Math.PI / 4) * turn), y + ring * radius * 1.1 * Math.sin((Math.PI / 4) * turn)];
        if (placed.every(([qx, qy, r]) => Math.hypot(px - qx, py - qy) >= 0.9 * (radius + r))) return [px, py];
      }
    }
    return [x, y];
  }

  /** Words beside a point, where none are yet and, if it can be, no line is; null where there is no room. */
  function beside(view, { text, x, y, radius, size }, taken, crossed) {
    const [wide, high] = [0.58 * size * text.length, 1.1 * size];
    const reach = [radius + 0.15 * size + wide / 2, radius + 0.1 * size + high / 2];
    for (const [ring, off] of [[0, crossed], [0.7, crossed], [0, []], [1.5, []]]) {
      for (const [u, v] of [[1, 0], [-1, 0], [0, -1], [0, 1], [0.8, -1], [-0.8, -1], [0.8, 1], [-0.8, 1]]) {
        const [px, py] = [x + u * (reach[0] + ring * size), y + v * (reach[1] + ring * size)];
        const box = [px - wide / 2, py - high / 2, px + wide / 2, py + high / 2];
        if (!view.holds(box)) continue;
        if (taken.some((other) => meet(other, box)) || off.some((other) => meet(other, box))) continue;
        taken.push(box);
        return [px, py];
      }
    }
    return null;
  }

  /** Draw the marks of the view's floor, their circles and labels, and the numbers of a walk's steps. */
  Navloom.drawMarks = function (view, block, looks, context, { taken, crossed }) {
    const [layer, point] = [view.layers.marks, view.point()];
    layer.replaceChildren();
    const here = (block.marks || []).filter((mark) => mark.at[0] === view.id);
    const placed = [];
    const words = [];
    const drawn = here.map((mark) => {
      const [, x, y] = mark.at;
      const [marker, colour, size, says] = looks.mark(mark.kind);
      const radius = (size / 2) * point;
      const [px, py] = freeSpot(x, y, radius, placed);
      placed.push([px, py, radius]);
      if (mark.label) words.push({ text: mark.label, x: px, y: py, radius, size: 7.5 * point, colour: "#7a1f4b" });
      const said = says + (mark.label ? ": " + mark.label : "");
      const robot = /^start_(\d+)$/.exec(mark.kind);
      if (mark.radius) {
        layer.append(svg("circle", { cx: x, cy: y, r: mark.radius, fill: colour, "fill-opacity": 0.07, stroke: "#333333",
          "stroke-width": 0.8 * point, "stroke-dasharray": [3 * point, 2 * point].join(" ") },
        svg("title", {}, mark.radius + " m around: " + said)));
      }
      const group = svg("g", mark.to ? { role: "link", tabindex: 0, class: "led", "aria-label": said } : {},
        svg("title", {}, said),
        Navloom.sign(looks, marker, px, py, size * point, { fill: colour, stroke: "#000000", "stroke-width": 0.8 * point }),
        robot ? svg("text", { x: px, y: py + 2.4 * point, "font-size": 6.8 * point, fill: Navloom.inkOn(colour), "font-weight": "bold",
          "text-anchor": "middle" }, robot[1]) : null);
      if (mark.to) {
        group.addEventListener("click", () => context.go(mark.to));
        group.addEventListener("keydown", (event) => event.key === "Enter" && context.go(mark.to));
      }
      return group;
    });
    layer.append(...drawn);
    taken.push(...placed.map(([x, y, r]) => [x - r, y - r, x + r, y + r]));
    for (const each of [...words, ...(block.unit === "s" ? [] : steps(block, view, looks, point))]) {
      const spot = beside(view, each, taken, crossed);
      if (spot) layer.append(word(each.text, ...spot, each.size, { fill: each.colour, "font-weight": "bold", "text-anchor": "middle" }));
    }
  };

  /** The numbers of the steps that led to each point of a walk. */
  function steps(block, view, looks, point) {
    const numbers = new Map();
    for (const route of (block.routes || []).filter((each) => each.style === "walk")) {
      route.points.slice(0, MOST_NUMBERED).forEach((at, i) => {
        if (!i || at[0] !== view.id || keyOf(at) === keyOf(route.points[i - 1])) return;
        const told = numbers.get(keyOf(at)) || { at, said: [], colour: looks.route(route.style)[0] };
        told.said.push(i);
        numbers.set(keyOf(at), told);
      });
    }
    return [...numbers.values()].map(({ at, said, colour }) => ({ text: said.length > 4
      ? said.slice(0, 3).join(", ") + " …" : said.join(", "), x: at[1], y: at[2], radius: 1.5 * point, size: 6.2 * point, colour }));
  }
})();
