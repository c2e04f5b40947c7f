/* A scene from above with what happens in it: floors, routes, marks, what moves, and the same as a table. */
"use strict";

(function () {
  const { el, svg } = Navloom;
  const GAP = 14;
  const NARROW = 560;
  const MOST_HIGH = 0.72;
  const SMALLEST = 0.83;
  const ROWS = 150;
  const [WIDEST, AROUND] = [6, 2];
  const LAYERS = [["things", "things"], ["graph", "graph"], ["names", "names"]];

  /** Spots of a block, of all that is drawn of it: [floor, x, z]; around a mark's circle, too. */
  function spotsOf(block) {
    const around = ({ at: [floor, x, z], radius = 0 }) => {
      const r = Math.min(WIDEST, radius);
      return r ? [[floor, x - r, z - r], [floor, x + r, z + r]] : [[floor, x, z]];
    };
    return [...(block.routes || []).flatMap((route) => route.points), ...(block.marks || []).flatMap(around),
      ...(block.tracks || []).flatMap((track) => track.points.map((point) => point.slice(1))),
      ...(block.frames || []).flatMap((frame) => (frame.options || []).map((option) => option.at))];
  }

  /** The drawing's floors, larger where something lies beside them; blank ones where it has none. */
  function floorsOf(drawing, block) {
    const spots = spotsOf(block).filter((spot) => spot.slice(1).every(Number.isFinite));
    const floors = ((drawing && drawing.floors) || []).map((floor) => ({ ...floor }));
    for (const id of new Set(spots.map((spot) => spot[0]))) {
      const here = spots.filter((spot) => spot[0] === id);
      let floor = floors.find((each) => each.id === id);
      if (!floor) floors.push(floor = { id, box: [here[0][1], here[0][2], 0, 0], nodes: [], names: [], key: [] });
      let [left, top, right, low] = [floor.box[0], floor.box[1], floor.box[0] + floor.box[2], floor.box[1] + floor.box[3]];
      for (const [, x, z] of here) [left, top, right, low] = [Math.min(left, x - 0.2), Math.min(top, z - 0.2), Math.max(right, x + 0.2), Math.max(low, z + 0.2)];
      floor.box = [left, top, Math.max(1, right - left), Math.max(1, low - top)];
    }
    return floors.sort((a, b) => a.id - b.id);
  }

  /** Who stands where at a time: tracks, else the walk's point that the step led to. */
  function bodiesAt(block, time) {
    const tracks = (block.tracks || []).map((track) => ({ track, place: Navloom.placeOf(track, time) })).filter((each) => each.place);
    if (tracks.length || !(block.frames || []).length || block.unit === "s") return tracks;
    return (block.routes || []).filter((route) => route.style === "walk" && route.points.length).slice(0, 1).map((route) => {
      const points = route.points.map((point, i) => [i, ...point]);
      const track = { name: route.name, style: "walk", points };
      return { track, place: Navloom.placeOf(track, time) };
    });
  }

  function body({ track, place: [, x, y, way] }, point, looks, company) {
    const [colour] = looks.route(track.style);
    const title = svg("title", {}, track.name);
    if (track.style === "object") {
      const [ox, oy] = company ? [x + 7 * point, y - 7 * point] : [x, y];
      const [marker, fill, size] = looks.mark("object");
      return svg("g", {}, title, Navloom.sign(looks, marker, ox, oy, size * point, { fill, stroke: "#000000", "stroke-width": point }));
    }
    const robot = /(\d+)$/.exec(track.style);
    const size = track.style === "other" ? 9 : 13;
    const nose = way === null || robot ? null : svg("path", { d: `M${x} ${y}l${4.5 * point * Math.cos(way)} ${4.5 * point * Math.sin(way)}`,
      stroke: "#ffffff", "stroke-width": 2 * point, "stroke-linecap": "round" });
    return svg("g", {}, title, Navloom.sign(looks, "o", x, y, size * point, { fill: colour, stroke: "#ffffff", "stroke-width": 2 * point }),
      svg("circle", { cx: x, cy: y, r: (size / 2 + 1) * point, fill: "none", stroke: "#000000", "stroke-width": 0.7 * point }), nose,
      robot ? svg("text", { x, y: y + 3 * point, "font-size": 8.5 * point, fill: Navloom.inkOn(colour), "font-weight": "bold", "text-anchor": "middle" }, robot[1]) : null);
  }

  /** Where it looked: heading 0 is -z, up the page, and pi/2 is +x. */
  function cone([, x, y], heading, point) {
    const end = (turn) => [x + 26 * point * Math.sin(heading + turn), y - 26 * point * Math.cos(heading + turn)];
    const [[ax, ay], [bx, by]] = [end(-0.6), end(0.6)];
    return svg("path", { d: `M${x} ${y}L${ax} ${ay}A${26 * point} ${26 * point} 0 0 1 ${bx} ${by}Z`, fill: "#0b62a8", "fill-opacity": 0.22,
      stroke: "#0b62a8", "stroke-width": 0.7 * point }, svg("title", {}, "where it looks"));
  }

  function option(each, from, point) {
    const [floor, x, y] = each.at;
    const words = "option " + each.number + (each.chosen ? ", chosen" : "") + (each.right ? ", where the right way goes" : "");
    const [ink, paper] = each.chosen ? ["#ffffff", "#1d1d1d"] : ["#1d1d1d", "#ffffff"];
    const tie = from && from[0] === floor ? svg("path", { d: `M${from[1]} ${from[2]}L${x} ${y}`, stroke: "#1d1d1d", "stroke-width": (each.chosen ? 1.4 : 0.7) * point,
      "stroke-dasharray": each.chosen ? null : [2 * point, 2 * point].join(" ") }) : null;
    const ring = each.right ? svg("circle", { cx: x, cy: y, r: 8.8 * point, fill: "none", stroke: "#e2700c", "stroke-width": 1.6 * point }) : null;
    return svg("g", {}, svg("title", {}, words), tie, svg("circle", { cx: x, cy: y, r: 6.4 * point, fill: paper, stroke: "#1d1d1d", "stroke-width": point }), ring,
      svg("text", { x, y: y + 2.9 * point, "font-size": 8.2 * point, fill: ink, "font-weight": "bold", "text-anchor": "middle" }, each.number));
  }

  /** What is so at a time, on one floor. */
  function drawMoving(view, block, looks, time, i) {
    const [layer, point] = [view.layers.moving, view.point()];
    const frame = (block.frames || [])[i];
    const bodies = bodiesAt(block, time);
    const first = bodies.length ? bodies[0].place : null;
    // Of several bodies' options, "B2" is an option of B.
    const whose = (each) => (bodies.length < 2 ? first : (bodies.find(({ track }) => each.number.startsWith(track.name)) || {}).place);
    const options = ((frame && frame.options) || []).filter((each) => each.at[0] === view.id).map((each) => option(each, whose(each), point));
    const looking = frame && Number.isFinite(frame.heading) && first && first[0] === view.id ? cone(first, frame.heading, point) : null;
    const here = bodies.filter((each) => each.place[0] === view.id);
    const near = (each) => here.some((other) => other !== each && Math.hypot(other.place[1] - each.place[1], other.place[2] - each.place[2]) < 0.3);
    layer.replaceChildren(...[looking, ...options, ...here.map((each) => body(each, point, looks, near(each)))].filter(Boolean));
  }

  function legend(block, looks) {
    const entries = [];
    const box = (...drawn) => svg("svg", { width: 34, height: 18, viewBox: "0 0 34 18", "aria-hidden": "true" }, drawn);
    const seen = new Set();
    for (const route of block.routes || []) {
      const [colour, dash, thin, thick] = looks.route(route.style);
      if (seen.has(route.name + route.style)) continue;
      seen.add(route.name + route.style);
      const line = (width, y) => svg("path", { d: `M1 ${y}H33`, stroke: colour, "stroke-width": width * 1.33, fill: "none", "stroke-dasharray": dash.map((each) => each * width * 1.33).join(" ") || null });
      const carried = route.carried_from !== null && route.carried_from !== undefined;
      entries.push([box(line(thin, carried ? 5 : 9), carried ? line(thick, 13) : null), route.name + (carried ? ", thick while carrying" : "")]);
    }
    for (const mark of block.marks || []) {
      const [marker, colour, size, says] = looks.mark(mark.kind);
      const words = says + (mark.radius ? " and " + mark.radius + " m around it" : "");
      if (seen.has(words)) continue;
      seen.add(words);
      entries.push([box(mark.radius ? svg("circle", { cx: 17, cy: 9, r: 8.4, fill: "none", stroke: "#333333", "stroke-dasharray": "3 2" }) : null,
        Navloom.sign(looks, marker, 17, 9, Math.min(14, 1.25 * size), { fill: colour, stroke: "#000000" }),
        /^start_\d+$/.test(mark.kind) ? svg("text", { x: 17, y: 12.2, "font-size": 9, fill: Navloom.inkOn(colour), "font-weight": "bold", "text-anchor": "middle" },
          mark.kind.slice(6)) : null), words]);
    }
    const options = (block.frames || []).flatMap((frame) => frame.options || []);
    const shown = [[{ number: "1" }, "open"], [{ number: "2", chosen: true }, "chosen"], [{ number: "3", right: true }, "where the right way goes"]];
    for (const [like, words] of shown) {
      const any = options.some((each) => like.chosen ? each.chosen : like.right ? each.right : !each.chosen);
      if (any) entries.push([box(option({ ...like, at: [0, 17, 9] }, null, 0.95)), words]);
    }
    return entries.length ? el("ul", { class: "map-legend" }, entries.map(([picture, words]) => el("li", {}, picture, words))) : null;
  }

  /** Frames as a table, filled when it is opened; each row goes to its frame. */
  function table(block, views, looks, roomOf, goTo) {
    const frames = block.frames || [];
    const rows = el("tbody", {});
    let made = 0;
    const where = (frame) => bodiesAt(block, frame.at).map(({ track, place }) => {
      const room = roomOf(...place.slice(0, 3)) || "floor " + place[0];
      return (block.tracks || []).length > 1 ? track.name + ": " + room : room;
    }).join("; ");
    const chosen = frames.some((frame) => (frame.options || []).length);
    const held = [true, true, (block.tracks || []).length, chosen, chosen, chosen];
    const kept = (cells) => cells.filter((_, k) => held[k]);
    const row = (frame, i) => {
      const options = frame.options || [];
      const said = (kept) => options.filter(kept).map((each) => each.number + (roomOf(...each.at) ? " (" + roomOf(...each.at) + ")" : "")).join(", ");
      return el("tr", { "data-frame": i }, kept([
        el("th", { scope: "row" }, el("button", { type: "button", click: () => goTo(i) },
          block.unit === "s" ? Navloom.whenOf(block, frame.at) : String(i + 1))),
        el("td", {}, (frame.tone === "bad" ? "✕ " : "") + frame.title), el("td", {}, where(frame)),
        el("td", {}, said(() => true)), el("td", {}, said((each) => each.chosen)), el("td", {}, said((each) => each.right))]));
    };
    const more = el("button", { type: "button", click: () => add() });
    function add() {
      rows.append(...frames.slice(made, made + ROWS).map((frame, k) => row(frame, made + k)));
      made = Math.min(frames.length, made + ROWS);
      more.hidden = made >= frames.length;
      more.textContent = `more (${frames.length - made})`;
    }
    const marks = (block.marks || []).slice(0, ROWS).map((mark) => el("li", {}, `${looks.mark(mark.kind)[3]}`,
      mark.label ? ": " + mark.label : "", `, ${roomOf(...mark.at) || "outside of rooms"}, floor ${mark.at[0]}`));
    const node = el("details", { class: "map-table", toggle: () => node.open && !made && add() },
      el("summary", {}, "The map in words"),
      views.map((view) => (view.rooms.length ? el("p", {}, "Rooms of floor " + view.id + ": " + view.rooms.join(", ") + ".") : null)), marks.length ? el("ul", {}, marks) : null,
      frames.length ? Navloom.wide("moments", el("table", { class: "words" }, el("thead", {}, el("tr", {},
        kept([block.unit === "s" ? "when" : "step", "what", "place", "options", "chosen", "right"]).map((each) => el("th", { scope: "col" }, each)))), rows), more) : null);
    return { node, at: (i) => {
      for (const each of rows.children) each.toggleAttribute("aria-current", Number(each.dataset.frame) === i);
    } };
  }

  /** Floors in a row where names can still be read so, else in tabs or under one another. */
  function arrange(views, width, point) {
    const high = Math.max(260, MOST_HIGH * window.innerHeight);
    for (let across = views.length; across >= 1; across--) {
      let scale = Infinity;
      for (let i = 0; i < views.length; i += across) {
        const row = views.slice(i, i + across);
        const wide = row.reduce((sum, view) => sum + view.box[2], 0);
        scale = Math.min(scale, (width - GAP * (row.length - 1)) / wide, high / Math.max(...row.map((view) => view.box[3])));
      }
      if (across === 1 || scale * point >= SMALLEST) return scale;
    }
    return 1;
  }

  /**
   * A block of the class SceneMap over a drawing (null: on blank paper).
   *
   * context.onFrame(i) is called when another frame begins, context.go(to) where a mark leads on.
   * Gives node, show(i), next(), previous(), toggle(), frames, zoom(1 nearer, -1 farther, 0 whole).
   */
  Navloom.map = function (block, drawing, context) {
    const looks = Navloom.looksOf(drawing && drawing.looks);
    const floors = floorsOf(drawing, block);
    const point = (drawing && drawing.point) || Math.max(0.01, ...floors.map((floor) => floor.box[2] / 400));
    const routes = block.routes || [];
    const roomOf = drawing ? Navloom.roomOf(drawing) : () => "";
    const now = { time: 0, frame: -1, chosen: null, width: 0 };
    const draw = (view) => {
      const lines = Navloom.drawRoutes(view, routes, looks);
      Navloom.drawMarks(view, block, looks, context, lines);
      drawMoving(view, block, looks, now.time, now.frame);
    };
    const views = floors.map((floor) => Navloom.floorView(floor, point, { scaled: draw }));
    const used = new Set(spotsOf(block).map((spot) => spot[0]));
    const figures = views.map((view) => el("figure", { class: "map-floor" },
      views.length > 1 ? el("figcaption", {}, "floor " + view.id) : null, view.svg,
      view.key.length ? el("p", { class: "map-key near-key" }, view.key.join(" · ")) : null,
      view.rooms.length ? el("p", { class: "map-key far-key" }, view.rooms.join(" · ")) : null));
    const stage = el("div", { class: "map-stage" }, figures);
    const shown = () => views.filter((view) => now.chosen === "all" ? true : now.chosen === null ? !used.size || used.has(view.id) : view.id === now.chosen);

    function fit() {
      if (!now.width) return;
      const here = shown();
      views.forEach((view, i) => (figures[i].hidden = !here.includes(view)));
      const scale = arrange(here, now.width, point);
      for (const view of here) view.size(Math.min(now.width, view.box[2] * scale));
      for (const each of tabs) each.setAttribute("aria-pressed", String(each.dataset.floor === String(now.chosen)));
    }

    function nearTo(view) {
      const here = spotsOf(block).filter((spot) => spot[0] === view.id);
      if (!here.length) return;
      const [xs, zs] = [here.map((spot) => spot[1]), here.map((spot) => spot[2])];
      view.nearTo([Math.min(...xs) - AROUND, Math.min(...zs) - AROUND, Math.max(...xs) + AROUND, Math.max(...zs) + AROUND]);
    }

    function choose(floor) {
      now.chosen = floor;
      fit();
    }
    const choices = [[null, used.size && used.size < views.length ? "where it goes" : "all floors"], ...views.map((view) => [view.id, "floor " + view.id])];
    if (used.size && used.size < views.length) {
      choices.splice(1, 0, ["all", "all floors"]);
      now.chosen = context.floors || null;
    }
    const tabs = views.length < 2 ? [] : choices.map(([floor, words]) => el("button", { type: "button", "data-floor": String(floor), click: () => choose(floor) }, words));
    const layers = LAYERS.filter(([name]) => name === "names" || floors.some((floor) => floor.nodes.some((node) => node[1]["data-layer"] === name)));
    const faint = (drawing && drawing.faint) || [];
    const ticks = layers.map(([name, words]) => {
      const put = (on) => stage.classList.toggle("without-" + name, !on);
      put(!faint.includes(name));
      return el("label", {}, el("input", { type: "checkbox", checked: !faint.includes(name), change: (event) => put(event.target.checked) }), " ", words);
    });
    const zoom = (sign, words, act) => el("button", { type: "button", "aria-label": words, title: words, click: () => shown().forEach(act) }, sign);
    const bar = el("div", { class: "map-bar" }, el("span", { class: "map-tabs", role: "group", "aria-label": "floors" }, tabs),
      el("span", { class: "map-layers", role: "group", "aria-label": "what is drawn" }, ticks),
      el("span", { class: "map-zoom", role: "group", "aria-label": "zoom" }, zoom("+", "nearer", (view) => view.zoom(1.4)),
        zoom("−", "farther", (view) => view.zoom(1 / 1.4)), zoom("▢", "whole", (view) => view.whole())));

    const player = Navloom.player(block, {
      time: (time, i) => {
        [now.time, now.frame] = [time, i];
        if (lanes) lanes.cursor(time);
        follow(time);
        for (const view of shown()) drawMoving(view, block, looks, time, i);
        words.at(i);
      },
      frame: (i) => context.onFrame && context.onFrame(i),
    });
    const lanes = player.span && (block.lanes || []).length ? Navloom.laneStrip(block, looks, player) : null;
    const words = table(block, views, looks, roomOf, (i) => player.goTo(i));

    /** Where one floor is seen, it is the one on which something moves; from near, the part of it. */
    function follow(time) {
      const places = bodiesAt(block, time).map(({ place }) => place);
      for (const view of shown()) {
        const here = places.find((place) => place[0] === view.id);
        if (here) view.follow(here[1], here[2]);
      }
      if (typeof now.chosen !== "number") return;
      const at = places.map((place) => place[0]);
      if (at.length && !at.includes(now.chosen) && views.some((view) => view.id === at[0])) choose(at[0]);
    }

    const node = el("div", { class: "map" }, views.length ? bar : null, stage, lanes ? lanes.node : null, player.node, legend(block, looks), words.node);
    new ResizeObserver(() => {
      const width = stage.clientWidth;
      if (!width || Math.abs(width - now.width) < 2) return;
      if (!now.width && width < NARROW && used.size > 1) {
        const [body] = bodiesAt(block, now.time);
        const [mark] = block.marks || [];
        now.chosen = body ? body.place[0] : mark ? mark.at[0] : [...used].sort((a, b) => a - b)[0];
      }
      const first = !now.width;
      now.width = width;
      fit();
      // Of scans without walls, which are large, what is around; homes are seen whole.
      if (first && !faint.includes("graph")) views.forEach(nearTo);
      if (lanes) lanes.draw(stage.clientWidth);
    }).observe(stage);
    player.show(0);
    return {
      node, frames: (block.frames || []).length, next: player.next, previous: player.previous, toggle: player.toggle, show: player.show,
      zoom: (nearer) => shown().forEach((view) => (nearer ? view.zoom(nearer > 0 ? 1.4 : 1 / 1.4) : view.whole())),
    };
  };
})();
