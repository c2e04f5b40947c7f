/* The home from above with the robot in it: its way so far and ahead; a click says what is there. */
"use strict";

(function () {
  const { el, svg } = Navloom;
  const GLIDE = 260;
  const LONGEST = 400;
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  /** home: as the server tells it; named(id) is called for what is clicked. */
  Navloom.chatMap = function (home, named) {
    const drawing = home.plan;
    const looks = Navloom.looksOf(drawing.looks);
    const state = { poses: [], begun: 0, ahead: [], at: null, floor: null, chosen: null, timer: 0 };
    const views = drawing.floors.map((floor) => Navloom.floorView(floor, drawing.point, { scaled: draw }));
    const figures = views.map((view) => el("div", { class: "map-floor", hidden: true }, view.svg));
    const stage = el("div", { class: "map-stage" }, figures);
    const where = el("span", { class: "where" });
    const tabs = views.length < 2 ? [] : views.map((view) => el("button", { type: "button", "data-floor": view.id, click: () => choose(view.id) }, el("span", { class: "word" }, "floor\u00a0"), String(view.id)));
    const button = (sign, words, nearer) => el("button", { type: "button", "aria-label": words, title: words, click: () => zoom(nearer) }, sign);
    const words = el("details", { class: "menu names" }, el("summary", {}, "Names"), el("div", {}, home.rooms.map((room) => el("details", {},
      el("summary", {}, room.name.replace(/^the /, "")), pick(room), room.things.map(pick)))));
    document.addEventListener("click", (event) => words.open && !words.contains(event.target) && (words.open = false));
    const bar = el("div", { class: "map-bar" }, where, el("span", { class: "map-tabs", role: "group", "aria-label": "floors" }, tabs), words,
      el("span", { class: "map-zoom", role: "group", "aria-label": "zoom" }, button("+", "nearer", 1), button("−", "farther", -1), button("▢", "whole", 0)));
    const node = el("div", { class: "map chat-map" }, bar, stage);

    function pick({ id, name }) {
      return el("button", { type: "button", click: () => {
        words.open = false;
        named(id);
      } }, name);
    }
    words.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !words.open) return;
      event.stopPropagation();
      words.open = false;
      words.querySelector("summary").focus();
    });

    let pressed = [0, 0];
    stage.addEventListener("pointerdown", (event) => (pressed = [event.clientX, event.clientY]));
    stage.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 5) return;
      const found = event.target.closest("[data-id]");
      if (found) named(found.getAttribute("data-id"));
    });

    const spots = (poses) => poses.map(([floor, x, z]) => [floor, x, z]);

    function draw(view) {
      const last = state.poses[state.poses.length - 1];
      const earlier = state.poses.slice(Math.max(0, state.begun - LONGEST), state.begun + 1);
      const routes = [
        { name: "the way before", style: "other", points: spots(earlier) },
        { name: "still to go", style: "true", points: last ? spots([last, ...state.ahead]) : [] },
        { name: "the way so far", style: "walk", points: spots(state.poses.slice(state.begun)) },
      ].filter((route) => route.points.length > 1);
      const goal = state.ahead[state.ahead.length - 1];
      const marks = [state.poses.length > 1 ? { kind: "start", at: spots(state.poses.slice(0, 1))[0] } : null,
        goal ? { kind: "goal", at: goal } : null].filter(Boolean);
      const lines = Navloom.drawRoutes(view, routes, looks);
      Navloom.drawMarks(view, { marks, unit: "s" }, looks, {}, lines);
      robot(view);
    }

    /** Who it is about: a disc with a nose, and the part of the room it looks at. */
    function robot(view) {
      view.layers.moving.replaceChildren();
      if (!state.at || state.at[0] !== view.id) return;
      const [, x, y, way] = state.at;
      const point = view.point();
      const to = (turn, far) => [x + far * point * Math.sin(way + turn), y - far * point * Math.cos(way + turn)].map((each) => each.toFixed(3)).join(" ");
      view.layers.moving.append(svg("g", { class: "robot" }, svg("title", {}, "the robot"),
        svg("path", { d: `M${x} ${y}L${to(-0.55, 30)}A${30 * point} ${30 * point} 0 0 1 ${to(0.55, 30)}Z`, fill: "#0b62a8", "fill-opacity": 0.2 }),
        svg("circle", { cx: x, cy: y, r: 9 * point, fill: "#0b62a8", stroke: "#ffffff", "stroke-width": 2 * point }),
        svg("path", { d: `M${to(0, 6.5)}L${to(2.5, 5.5)}L${to(3.14159, 2)}L${to(-2.5, 5.5)}Z`, fill: "#ffffff" })));
    }

    function choose(floor) {
      state.floor = floor;
      fit();
      views.forEach(draw);
    }

    function fit() {
      const [wide, high] = [stage.clientWidth, stage.clientHeight];
      if (!wide || !high) return;
      views.forEach((view, i) => {
        figures[i].hidden = view.id !== state.floor;
        if (view.id === state.floor) view.size(Math.min(wide, (high * view.box[2]) / view.box[3]));
      });
      for (const each of tabs) each.setAttribute("aria-pressed", String(Number(each.dataset.floor) === state.floor));
    }

    function stand(pose) {
      state.at = pose;
      if (state.floor !== pose[0]) choose(pose[0]);
      for (const view of views) if (view.id === pose[0]) {
        robot(view);
        view.follow(pose[1], pose[2]);
      }
    }

    /** Move evenly from pose to pose; what comes quicker than it is shown is jumped to. */
    function glide(from, rest, done) {
      const to = rest[0];
      if (still() || rest.length > 3 || from[0] !== to[0] || document.hidden) {
        stand(rest[rest.length - 1]);
        return done();
      }
      const began = performance.now();
      const turn = Math.atan2(Math.sin(to[3] - from[3]), Math.cos(to[3] - from[3]));
      const tick = (time) => {
        const part = Math.min(1, Math.max(0, (time - began) / GLIDE));
        stand([to[0], from[1] + (to[1] - from[1]) * part, from[2] + (to[2] - from[2]) * part, from[3] + turn * part, to[4]]);
        if (part < 1) state.timer = requestAnimationFrame(tick);
        else if (rest.length > 1) glide(to, rest.slice(1), done);
        else done();
      };
      state.timer = requestAnimationFrame(tick);
      return undefined;
    }

    /** Show a walk; the last `steps` poses are new. */
    function walk(poses, begun, steps) {
      cancelAnimationFrame(state.timer);
      if (!poses.length) return;
      const last = poses[poses.length - 1];
      [state.poses, state.begun] = [poses.slice(), begun];
      where.textContent = last[4] + (views.length > 1 ? ", floor " + last[0] : "");
      const all = () => views.forEach(draw);
      if (!steps || !state.at) {
        stand(last);
        return all();
      }
      return glide(state.at, poses.slice(-steps), all);
    }

    function ahead(way) {
      state.ahead = way;
      views.forEach(draw);
    }
    function zoom(nearer) {
      const view = views.find((each) => each.id === state.floor);
      if (view) nearer ? view.zoom(nearer > 0 ? 1.4 : 1 / 1.4) : view.whole();
    }
    new ResizeObserver(fit).observe(stage);
    return { node, walk, ahead, zoom };
  };
})();
