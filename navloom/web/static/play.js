/* What moves on a map, when: the player with its keys, who is where at a time, and time as lanes. */
"use strict";

(function () {
  const { el, svg } = Navloom;
  const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32];
  const LONGEST = 30;
  const GLIDE = 350;
  const ROW = 26;
  let patterns = 0;

  const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const rounded = (value) => String(Math.round(10 * value) / 10);

  /** Where a track is at a time: [floor, x, z, the way it goes or null]. */
  Navloom.placeOf = function (track, time) {
    const points = track.points;
    if (!points.length) return null;
    let i = points.findIndex((point) => point[0] > time);
    /* A lift takes no time over G+: who sets out in one is seen where it sets out. */
    if (i === 0 || (i !== 1 && time <= points[0][0])) return [...points[0].slice(1), null];
    if (i < 0) i = points.length;
    const [ta, fa, xa, za] = points[i - 1];
    if (i === points.length) return [fa, xa, za, null];
    const [tb, fb, xb, zb] = points[i];
    const part = (time - ta) / Math.max(1e-9, tb - ta);
    const gone = Math.hypot(xb - xa, zb - za) > 1e-3;
    return [part < 0.5 ? fa : fb, xa + (xb - xa) * part, za + (zb - za) * part, gone ? Math.atan2(zb - za, xb - xa) : null];
  };

  /** When what a map shows begins and ends; null where nothing happens. */
  function spanOf(block) {
    const times = [...(block.frames || []).map((frame) => frame.at),
      ...(block.tracks || []).flatMap((track) => track.points.map((point) => point[0])),
      ...(block.lanes || []).flatMap((lane) => lane.spans.flatMap((span) => [span.start, span.end]))];
    if (times.length < 2) return null;
    const [low, high] = times.reduce(([a, b], each) => [Math.min(a, each), Math.max(b, each)], [Infinity, -Infinity]);
    return high > low ? [low, high] : null;
  }

  /** A time in words: steps are counted, seconds and minutes are told apart. */
  Navloom.whenOf = function (block, time) {
    if (block.unit !== "s") return "step " + Math.floor(time + 1e-6);
    return time < 60 ? rounded(time) + " s" : Math.floor(time / 60) + " min " + rounded(time % 60) + " s";
  };

  /**
   * The player of a block. heard.time(t, i) is called whenever the time changes, heard.frame(i) when
   * another frame begins; both are given once by show().
   */
  Navloom.player = function (block, heard) {
    const frames = block.frames || [];
    const span = spanOf(block);
    const state = { time: span ? span[0] : 0, frame: -1, timer: 0, playing: false };
    const steps = block.unit !== "s";
    const whole = span ? span[1] - span[0] : 1;
    let speed = steps ? 1 : SPEEDS.find((each) => whole / each <= LONGEST) || SPEEDS[SPEEDS.length - 1];

    function frameAt(time) {
      let found = frames.length ? 0 : -1;
      for (let i = 0; i < frames.length && frames[i].at <= time + 1e-6; i++) found = i;
      return found;
    }

    const play = el("button", { type: "button", class: "play", click: () => toggle() });
    const slider = el("input", { type: "range", min: span ? span[0] : 0, max: span ? span[1] : 0,
      step: steps ? 1 : Math.max(0.1, whole / 400), "aria-label": "time", input: () => {
        stop();
        seek(Number(slider.value));
      } });
    const said = el("span", { class: "when" });
    const pace = el("select", { "aria-label": "speed", change: () => (speed = Number(pace.value)) },
      SPEEDS.filter((each) => steps ? each <= 8 : each >= 1).map((each) =>
        el("option", { value: each, selected: each === speed }, "×" + each)));
    const button = (sign, words, act) => el("button", { type: "button", "aria-label": words, title: words, click: act }, sign);
    const node = span ? el("div", { class: "player", role: "group", "aria-label": "player" },
      button("|◀", "back to the start", () => goTo(0)), button("◀", "previous step", () => previous()), play,
      button("▶", "next step", () => next()), slider, pace, said) : null;

    function seek(time, quietly) {
      state.time = span ? Math.min(span[1], Math.max(span[0], time)) : time;
      const i = frameAt(state.time);
      const words = frames[i] && steps ? `${frames[i].title} (${i + 1} of ${frames.length})`
        : Navloom.whenOf(block, state.time) + (frames[i] ? ": " + frames[i].title : "");
      slider.value = state.time;
      slider.setAttribute("aria-valuetext", words);
      said.textContent = words;
      heard.time(state.time, i);
      if (i !== state.frame) {
        state.frame = i;
        if (!quietly && i >= 0) heard.frame(i);
      }
    }

    function stop() {
      cancelAnimationFrame(state.timer);
      clearTimeout(state.timer);
      state.timer = 0;
      state.playing = false;
      label();
    }

    function label() {
      play.textContent = state.playing ? "❚❚ stop" : "► play";
      play.setAttribute("aria-pressed", String(state.playing));
    }

    /** Move evenly to a time, at a rate; then go on with what follows. */
    function glide(to, rate, then) {
      let before = performance.now();
      const tick = (now) => {
        const step = rate() * Math.min(0.25, (now - before) / 1000);
        before = now;
        if (!node || !node.isConnected) return stop();
        if (Math.abs(to - state.time) <= step) {
          seek(to);
          return then();
        }
        seek(state.time + Math.sign(to - state.time) * step);
        state.timer = requestAnimationFrame(tick);
      };
      state.timer = requestAnimationFrame(tick);
    }

    /** From frame to frame, without anything that moves. */
    function jump() {
      const i = state.frame + 1;
      if (i >= frames.length) return stop();
      const pause = steps ? 1000 / speed : Math.min(4000, Math.max(600, (1000 * (frames[i].at - state.time)) / speed));
      state.timer = setTimeout(() => {
        if (!node.isConnected) return stop();
        seek(frames[i].at);
        jump();
      }, pause);
    }

    function toggle() {
      if (!span) return;
      if (state.playing) return stop();
      stop();
      if (state.time >= span[1] - 1e-6) seek(span[0]);
      state.playing = true;
      label();
      if (still() && frames.length) jump();
      else glide(span[1], () => speed, stop);
    }

    function goTo(i) {
      stop();
      const to = frames.length ? frames[Math.max(0, Math.min(i, frames.length - 1))].at : span[0];
      const near = Math.abs(i - state.frame) === 1;
      if (still() || !near || to === state.time) seek(to);
      else {
        const rate = Math.abs(to - state.time) / (GLIDE / 1000);
        glide(to, () => rate, stop);
      }
    }
    const next = () => (frames.length ? goTo(state.frame + 1) : seek(state.time + whole / 20));
    const previous = () => (frames.length ? goTo(state.frame - 1) : seek(state.time - whole / 20));

    label();
    return { node, span, next, previous, toggle, stop, seek, at: () => state.time, goTo,
      show: (i) => {
        if (!frames.length) return seek(state.time);
        stop();
        seek(frames[Math.max(0, Math.min(i, frames.length - 1))].at, true);
      } };
  };

  /* Time as lanes: a row for each robot, waits hatched, and a line where one is. */

  function hatch(id, colour) {
    return svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { width: 6, height: 6, fill: "#ffffff" }), svg("path", { d: "M0 0V6", stroke: colour, "stroke-width": 3 }));
  }

  function bar(span, x, wide, y, colour, pattern) {
    const looks = {
      move: { fill: colour, "fill-opacity": 0.3, stroke: colour },
      carry: { fill: colour, stroke: "#000000", "stroke-width": 1.6 },
      wait: { fill: "url(#" + pattern + ")", stroke: colour },
      idle: { fill: "none", stroke: colour, "stroke-dasharray": "2 3" },
    };
    const ink = span.kind === "carry" ? Navloom.inkOn(colour) : "#1d1d1d";
    const fits = 6.3 * span.words.length + 6 < wide;
    return svg("g", {}, svg("title", {}, `${span.words}, ${rounded(span.start)} to ${rounded(span.end)} (${span.kind})`),
      svg("rect", { x, y: y + 3, width: Math.max(1, wide), height: ROW - 8, rx: 2, ...(looks[span.kind] || looks.move) }),
      fits ? svg("text", { x: x + wide / 2, y: y + ROW / 2 + 3, "text-anchor": "middle", "font-size": 11, fill: ink,
        stroke: span.kind === "wait" ? "#ffffff" : null, "stroke-width": 3, "paint-order": "stroke" }, span.words) : null);
  }

  function ticks([low, high], most) {
    const rough = (high - low) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
    const found = [];
    for (let at = Math.ceil(low / step) * step; at <= high + 1e-9; at += step) found.push(Number(at.toPrecision(6)));
    return found;
  }

  /** The block's lanes as a strip; draw(width), cursor(time). */
  Navloom.laneStrip = function (block, looks, player) {
    const lanes = block.lanes || [];
    const [low, high] = player.span;
    const picture = svg("svg", { class: "lanes", role: "img", "aria-label": "who does what when: "
      + lanes.map((lane) => lane.name + ": " + lane.spans.map((span) =>
        `${span.words} ${rounded(span.start)} to ${rounded(span.end)}`).join(", ")).join("; ") });
    const line = svg("path", { class: "cursor", "stroke-width": 2 });
    const left = Math.min(150, 14 + 6.6 * Math.max(0, ...lanes.map((lane) => lane.name.length)));
    let scale = 1;
    const at = (time) => left + (time - low) * scale;

    function draw(width) {
      const height = lanes.length * ROW + 18;
      scale = Math.max(0.01, (width - left - 12) / (high - low));
      picture.replaceChildren();
      picture.setAttribute("viewBox", `0 0 ${Math.max(60, width)} ${height}`);
      picture.setAttribute("height", height);
      lanes.forEach((lane, row) => {
        const y = row * ROW;
        const colour = looks.route(lane.style)[0];
        const pattern = "hatch-" + ++patterns;
        picture.append(hatch(pattern, colour), svg("text", { x: 0, y: y + ROW / 2 + 3, "font-size": 12 }, lane.name.length > 21 ? lane.name.slice(0, 20) + "…" : lane.name),
          ...lane.spans.map((span) => bar(span, at(span.start), (span.end - span.start) * scale, y, colour, pattern)));
      });
      const foot = lanes.length * ROW;
      for (const time of ticks([low, high], width / 90)) {
        picture.append(svg("path", { d: `M${at(time)} ${foot}v4`, stroke: "#555555" }),
          svg("text", { x: at(time), y: foot + 15, "text-anchor": "middle", "font-size": 10.5 }, rounded(time) + (block.unit === "s" ? " s" : "")));
      }
      picture.append(line);
      cursor(player.at());
    }

    function cursor(time) {
      line.setAttribute("d", `M${at(time)} 0V${lanes.length * ROW + 3}`);
    }

    const seek = (event) => {
      const box = picture.getBoundingClientRect();
      player.stop();
      player.seek(low + (event.clientX - box.left - left) / scale);
    };
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      seek(event);
    });
    picture.addEventListener("pointermove", (event) => event.buttons && seek(event));
    return { node: picture, draw, cursor };
  };
})();
