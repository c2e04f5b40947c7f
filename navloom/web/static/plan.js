/* A floor's plan: its drawing as SVG, who is in which room, and the view: pan, zoom, pinch, keys. */
"use strict";

(function () {
  const { svg } = Navloom;
  const TAGS = new Set(["g", "path", "polygon", "polyline", "line", "circle", "text", "tspan", "title"]);
  const ATTRIBUTES = new Set(["class", "cx", "cy", "d", "data-id", "data-layer", "dy", "fill", "fill-rule",
    "font-size", "font-weight", "opacity", "paint-order", "points", "r", "stroke", "stroke-dasharray",
    "stroke-linecap", "stroke-linejoin", "stroke-opacity", "stroke-width", "text-anchor", "x", "y"]);
  const FARTHEST = 12;
  /* What happens on a large floor is looked at from nearer: at most so near, and where it is worth it. */
  const [CLOSE, WORTH] = [4, 1.5];
  /* Pixels that a point of rooms' and graphs' lines takes at most. */
  const THICKEST = 2.2;
  /* Pixels of a name: below the first it is a number, below the second larger than it is meant. */
  const [FAR, READ, LARGEST] = [6.2, 7.6, 12.5];
  const [POINT, POINT_NARROW, NARROW] = [4 / 3, 1.05, 420];

  /** A node of a drawing; whatever is not of the lists is left out. */
  function made(record) {
    if (typeof record === "string") return record;
    const [tag, attributes, ...children] = record;
    if (!TAGS.has(tag)) return null;
    const kept = {};
    for (const [name, value] of Object.entries(attributes)) {
      if (ATTRIBUTES.has(name) && !/url\s*\(/i.test(String(value))) kept[name] = value;
    }
    return svg(tag, kept, children.map(made));
  }

  /** The rings that the path of a room says, in metres. */
  function rings(d) {
    const found = [];
    let [x, y, mode] = [0, 0, ""];
    const tokens = d.match(/[Mlzhv]|-?\d*\.?\d+/g) || [];
    for (let i = 0; i < tokens.length;) {
      if (/[A-Za-z]/.test(tokens[i])) {
        mode = tokens[i++];
        if (mode === "M") found.push([]);
        continue;
      }
      const a = Number(tokens[i++]);
      if (mode === "h") x += a;
      else if (mode === "v") y += a;
      else {
        const b = Number(tokens[i++]);
        [x, y] = mode === "l" ? [x + a, y + b] : [a, b];
      }
      found[found.length - 1].push([x, y]);
    }
    return found;
  }

  function within(ring, x, y) {
    let inside = false;
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const [[ax, ay], [bx, by]] = [ring[i], ring[j]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    }
    return inside;
  }

  /** What finds the room of a spot (floor, x, z) of a drawing, by its name; "" outside of all. */
  Navloom.roomOf = function (drawing) {
    const rooms = new Map();
    for (const floor of drawing.floors) {
      const layer = floor.nodes.find((node) => node[1]["data-layer"] === "rooms");
      rooms.set(floor.id, (layer ? layer.slice(2) : []).map(([, attributes, title]) => ({
        name: title ? title[2] : attributes["data-id"], rings: rings(attributes.d),
      })).reverse());
    }
    return function (floor, x, z) {
      const here = (rooms.get(floor) || []).find((room) =>
        room.rings.filter((ring) => within(ring, x, z)).length % 2 === 1);
      return here ? here.name : "";
    };
  };

  function namesOf(floor, point) {
    return svg("g", { class: "names", "text-anchor": "middle", "paint-order": "stroke", "stroke-linejoin": "round",
      "stroke-width": 1.8 * point }, floor.names.map(made));
  }

  /** The number that stands for a room where its name cannot be read. */
  function numberOf(id) {
    const found = /(\d+)\D*$/.exec(id || "");
    return found ? found[1] : (id || "").slice(0, 3);
  }

  /**
   * A floor as an element with layers to draw on, and its view.
   * heard.scaled(view) is called whenever a metre is no longer as many pixels as it was.
   */
  Navloom.floorView = function (floor, point, heard) {
    const layers = {};
    for (const name of ["routes", "marks", "moving"]) layers[name] = svg("g", { class: name });
    layers.names = namesOf(floor, point);
    layers.numbers = svg("g", { class: "numbers", "text-anchor": "middle", "aria-hidden": "true" });
    const picture = svg("svg", { class: "plan", tabindex: 0, role: "group", "aria-label": "floor " + floor.id
      + ", from above: plus and minus zoom, 0 shows it whole, shift and arrows move it" },
    svg("g", { class: "building", fill: "none" }, floor.nodes.map(made)),
    layers.routes, layers.names, layers.numbers, layers.marks, layers.moving);
    const [left, top, wide, high] = floor.box;
    const widths = [...picture.querySelectorAll('g[data-layer="rooms"], g[data-layer="graph"] > [stroke-width]')]
      .map((each) => [each, Number(each.getAttribute("stroke-width"))]);
    const seen = { x: left, y: top, zoom: 1, width: 300, held: false };
    const rooms = [...layers.names.children].map((text) => [numberOf(text.getAttribute("data-id")), text.querySelector("title")])
      .map(([number, title]) => number + " " + (title ? title.textContent.replace(/ \d+$/, "") : ""));
    const view = { id: floor.id, svg: picture, layers, box: floor.box, key: floor.key || [], rooms: rooms.sort((a, b) => a.localeCompare(b, "en", { numeric: true })) };

    /** What names take, as boxes: rather too large. */
    view.nameBoxes = () => [...layers.names.children].map((text) => {
      const [x, y, size] = ["x", "y", "font-size"].map((name) => Number(text.getAttribute(name)));
      const lines = [...text.children].filter((each) => each.tagName === "tspan").map((each) => each.textContent.length);
      const far = picture.classList.contains("far");
      const letter = far ? 9.5 * view.metres() : Math.min(size, LARGEST * view.metres());
      const [wide, high] = far ? [1.2 * letter, letter] : [0.58 * letter * Math.max(1, ...lines), 1.15 * letter * lines.length];
      return [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2];
    });
    view.metres = () => wide / seen.zoom / seen.width;
    view.point = () => view.metres() * (seen.width < NARROW ? POINT_NARROW : POINT);
    view.holds = ([a, b, c, d]) => a >= left && b >= top && c <= left + wide && d <= top + high;
    view.zoomed = (event) => seen.zoom > 1 && (seen.held || event.pointerType !== "touch");

    function look() {
      const [w, h] = [wide / seen.zoom, high / seen.zoom];
      seen.x = Math.min(Math.max(seen.x, left - 0.2 * w), left + wide - 0.8 * w);
      seen.y = Math.min(Math.max(seen.y, top - 0.2 * h), top + high - 0.8 * h);
      if (seen.zoom === 1) [seen.x, seen.y] = [left, top];
      picture.setAttribute("viewBox", [seen.x, seen.y, w, h].map((each) => each.toFixed(3)).join(" "));
      picture.classList.toggle("zoomed", seen.zoom > 1);
      // A finger scrolls the page over a map until the map was zoomed by hand.
      picture.classList.toggle("held", seen.zoom > 1 && seen.held);
    }

    /** Names are as large as they are meant, within what one reads well; numbers where too small. */
    function letters() {
      const px = view.metres();
      const meant = (7.5 * point) / px;
      const far = meant < FAR;
      picture.classList.toggle("far", far);
      layers.numbers.replaceChildren();
      for (const [node, width] of widths) node.setAttribute("stroke-width", width * Math.min(1, (THICKEST * px) / point));
      for (const text of layers.names.children) {
        const [x, y, size] = ["x", "y", "font-size"].map((name) => Number(text.getAttribute(name)));
        const factor = meant < READ ? READ / meant : Math.min(1, (LARGEST * px) / size);
        if (factor !== 1) text.setAttribute("transform", `translate(${x} ${y}) scale(${factor}) translate(${-x} ${-y})`);
        else text.removeAttribute("transform");
        if (far) {
          layers.numbers.append(svg("text", { x, y: y + 3.4 * px, "font-size": 9.5 * px, "stroke-width": 2.5 * px,
            "paint-order": "stroke", "font-weight": "bold" }, numberOf(text.getAttribute("data-id"))));
        }
      }
    }

    function scaled() {
      look();
      letters();
      heard.scaled(view);
    }

    /** So many pixels wide; as high as the floor is. */
    view.size = function (width) {
      seen.width = Math.max(60, width);
      picture.setAttribute("width", Math.floor(seen.width));
      picture.setAttribute("height", Math.round((seen.width * high) / wide));
      scaled();
    };

    /** Nearer or farther by a factor, around a point of the plan. */
    view.zoom = function (factor, at) {
      const [x, y] = at || [seen.x + wide / seen.zoom / 2, seen.y + high / seen.zoom / 2];
      const zoom = Math.min(FARTHEST, Math.max(1, seen.zoom * factor));
      const kept = seen.zoom / zoom;
      seen.x = x - (x - seen.x) * kept;
      seen.y = y - (y - seen.y) * kept;
      [seen.zoom, seen.held] = [zoom, true];
      scaled();
    };
    /** Nearer to a part of a large floor, [left, top, right, low]; small floors stay whole. */
    view.nearTo = function ([a, b, c, d]) {
      const zoom = Math.min(CLOSE, wide / (c - a), high / (d - b));
      if (zoom < WORTH) return;
      seen.zoom = zoom;
      view.centre((a + c) / 2, (b + d) / 2);
      scaled();
    };
    view.centre = function (x, y) {
      [seen.x, seen.y] = [x - wide / seen.zoom / 2, y - high / seen.zoom / 2];
      look();
    };
    /** Move so that a spot is seen, where it is not. */
    view.follow = function (x, y) {
      const [u, v] = [((x - seen.x) * seen.zoom) / wide, ((y - seen.y) * seen.zoom) / high];
      if (seen.zoom > 1 && (Math.min(u, v) < 0.06 || Math.max(u, v) > 0.94)) view.centre(x, y);
    };
    view.whole = () => view.zoom(1 / FARTHEST);
    view.move = function (dx, dy) {
      seen.x += dx * view.metres();
      seen.y += dy * view.metres();
      look();
    };
    view.at = function (event) {
      const box = picture.getBoundingClientRect();
      const px = view.metres();
      return [seen.x + (event.clientX - box.left) * px, seen.y + (event.clientY - box.top) * px];
    };
    touched(view);
    return view;
  };

  function touched(view) {
    const picture = view.svg;
    const down = new Map();
    let dragged = 0;
    picture.addEventListener("wheel", (event) => {
      // A page is scrolled over a map; the wheel is the map's once it was clicked or reached by Tab.
      if (!event.ctrlKey && !event.metaKey && !picture.contains(document.activeElement)) return;
      event.preventDefault();
      view.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200), view.at(event));
    }, { passive: false });
    picture.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, event);
      dragged = 0;
    });
    picture.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return;
      const other = [...down.values()].find((each) => each.pointerId !== event.pointerId);
      const apart = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      dragged += Math.hypot(dx, dy);
      if (dragged < 4 && !other) return;
      if (other) {
        const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 };
        view.zoom(apart(event, other) / Math.max(1, apart(before, other)), view.at(middle));
        view.move(-dx / 2, -dy / 2);
      } else if (view.zoomed(event)) {
        if (!picture.hasPointerCapture(event.pointerId)) picture.setPointerCapture(event.pointerId);
        view.move(-dx, -dy);
      }
      down.set(event.pointerId, event);
    });
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      picture.addEventListener(name, (event) => down.delete(event.pointerId));
    }
    picture.addEventListener("dblclick", (event) => view.zoom(event.shiftKey ? 0.5 : 2, view.at(event)));
    picture.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [-40, 0], ArrowRight: [40, 0], ArrowUp: [0, -40], ArrowDown: [0, 40] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.shiftKey && moves[event.key]) view.move(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") view.zoom(1.4);
      else if (event.key === "-") view.zoom(1 / 1.4);
      else if (event.key === "0") view.whole();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
})();
