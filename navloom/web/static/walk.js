/* An item that is walked: the view, keys that are held, ways to hop, and the end when they say so. */
"use strict";

(function () {
  const { el, fill } = Navloom;
  const TURN = Math.PI / 6;
  const TILT = Math.PI / 12;
  const SLOW_MS = 200;
  const MOVES = { w: [1, 0], arrowup: [1, 0], s: [-1, 0], arrowdown: [-1, 0], a: [0, -1], arrowleft: [0, -1], q: [0, -1],
    d: [0, 1], arrowright: [0, 1], e: [0, 1] };
  const DRIVEN = "Hold W or ↑ to walk, S or ↓ to go back, A or ← and D or → to turn; R and F look up and down.";
  const HOPPED = "A or ← and D or → look around, W or ↑ goes to the circle nearest to the middle, 1 to 9 to the circle of that number; R and F look up and down.";
  const END = " Enter: you are there. P: pause.";
  const button = (words, click, more) => el("button", { type: "button", click, ...(more || {}) }, words);
  let under = null;

  Navloom.itemPages.walk = function (item, tools) {
    if (Navloom.offline) throw new Error("A walk needs its server: open the link that you were given.");
    const key = "navloom-practised-" + tools.me.study + "-" + tools.me.rater;
    const first = tools.me.items.every((status) => status === "" || status === "withdrawn");
    const practice = first && !Navloom.kept("session", key);
    if (under) under.leave();
    under = made(practice ? { id: "", blocks: [] } : item, tools, () => {
      Navloom.kept("session", key, "1");
      Navloom.show();
    });
    setTimeout(under.begin, 0);
    return { nodes: [tools.head(practice ? el("strong", {}, "practice, not counted") : null), under.node, tools.foot()], keys: {} };
  };

  window.addEventListener("hashchange", () => setTimeout(() => under && !under.node.isConnected && under.leave(), 0));

  function made(item, tools, practised) {
    const page = { now: { phase: "loading", seconds: 0, steps: 0, touched: "" }, heading: null, tilt: 0, size: 0, gone: false, asked: false };
    const down = new Set();
    let [shown, wake, sent, order] = ["", () => {}, "0 0", Promise.resolve()];

    const image = el("img", { alt: "what you see from where you stand", width: 480, height: 360 });
    const marks = el("div", { class: "walk-marks" });
    const veil = el("p", { class: "walk-veil" }, "The home is being made ready …");
    const view = el("div", { class: "walk-view", role: "group", "aria-label": "the view", tabindex: 0 }, image, marks, veil);
    const status = el("p", { class: "walk-status" });
    const touched = el("p", { class: "walk-touched", role: "status" });
    const asking = el("div", { class: "walk-ask", role: "alert" });
    const help = el("p", { class: "note" });
    const pad = el("div", { class: "walk-pad", role: "group", "aria-label": "by touch" });
    const words = item.id ? Navloom.blocksOf(item.blocks, { query: {}, address: () => "#/people", go: () => {}, plan: tools.store.plan })
      : el("p", { class: "words" }, "Try the keys. Nothing of this is kept. When you know how to walk, press Enter, and again to confirm.");
    const node = el("div", { class: "walk" }, el("section", { class: "card walk-words", "aria-label": "the instruction" }, words),
      el("div", {}, view, status, touched, asking, pad, help));

    const tell = (body) => {
      order = order.then(() => Navloom.post("walk/tell", { item: item.id, ...body })).then(taken, trouble);
      return order;
    };

    function trouble(error) {
      if (!page.gone) fill(asking, Navloom.broken(error), el("p", { class: "actions" }, button("try again", begin, { class: "main" })));
    }

    function taken(now) {
      const before = page.now.phase;
      page.now = now;
      if (page.heading === null || (now.motion === "hops" && now.steps !== page.steps)) [page.heading, page.steps] = [now.heading, now.steps];
      fill(status, Navloom.plural(Math.floor(now.seconds), "second"), now.motion === "hops" ? ", " + Navloom.plural(now.steps, "step") : "");
      const said = now.touched ? "You touch " + now.touched.replace(/^You bumped into /, "") + "." : "";
      if (touched.textContent !== said) fill(touched, said);
      view.classList.toggle("touches", Boolean(now.touched));
      veil.hidden = now.phase !== "loading" && now.phase !== "paused";
      if (now.phase === "paused") fill(veil, "Paused: no time is counted. Any key, or a touch, goes on.");
      if (before !== now.phase) wake();
      if (now.phase === "done" && before !== "done") done();
      if (now.phase === "broken") trouble(new Error(now.said));
    }

    async function begin() {
      fill(asking);
      try {
        const now = await Navloom.post("walk/begin", { item: item.id });
        fill(help, (now.motion === "hops" ? HOPPED : DRIVEN) + END);
        buttons(now.motion);
        taken(now);
      } catch (error) {
        trouble(error);
        return;
      }
      if (page.now.phase !== "done") view.focus({ preventScroll: true });
      look();
    }

    /* What is seen: one picture after another while something moves, else once a second. */

    async function look() {
      while (!page.gone && node.isConnected && !["done", "broken"].includes(page.now.phase)) {
        const begun = performance.now();
        const query = "?item=" + encodeURIComponent(item.id) + "&size=" + page.size + "&tilt=" + page.tilt.toFixed(4)
          + (page.now.motion === "hops" && page.heading !== null ? "&heading=" + page.heading.toFixed(4) : "");
        const moves = page.now.motion === "continuous" && page.now.phase === "walking";
        if (!document.hidden) {
          try {
            await drawn(await Navloom.ask("walk/frame" + query), performance.now() - begun);
          } catch {
            trouble(new Error("The server does not answer: what you walked is kept there."));
            return;
          }
        }
        await new Promise((resolve) => {
          wake = resolve;
          setTimeout(resolve, page.now.phase === "loading" ? 300 : moves ? Math.max(5, 33 - (performance.now() - begun)) : 900);
        });
      }
    }

    async function drawn(answer, took) {
      const told = answer.headers.get("X-Walk");
      if (!told) {
        const said = await answer.json().catch(() => ({}));
        throw new Error(said.error || "no picture");
      }
      const now = JSON.parse(told);
      if (answer.status === 200) {
        const next = URL.createObjectURL(await answer.blob());
        image.src = next;
        await image.decode().catch(() => {});
        URL.revokeObjectURL(shown);
        shown = next;
        page.slow = 0.8 * (page.slow || took) + 0.2 * took;
        if (page.slow > SLOW_MS && page.size < 2) [page.size, page.slow] = [page.size + 1, 0];
      }
      taken(now);
      circles(now.marks || []);
    }

    function circles(found) {
      page.marks = found;
      fill(marks, found.map(([number, u, v, metres]) => {
        const circle = button(String(number), () => hop(number), { class: "walk-mark", "aria-label": "go to " + number + ", " + metres.toFixed(1) + " m" });
        circle.style.left = 100 * u + "%";
        circle.style.top = 100 * v + "%";
        return circle;
      }));
    }

    const hop = (option) => tell({ say: "hop", option }).then(() => {
      view.focus({ preventScroll: true });
      wake();
    });

    function ahead() {
      const near = (page.marks || []).filter(([, u]) => Math.abs(u - 0.5) < 0.3).sort((a, b) => Math.abs(a[1] - 0.5) - Math.abs(b[1] - 0.5))[0];
      if (near) hop(near[0]);
      else fill(touched, "There is no circle ahead: look around.");
    }

    /* Keys, and the same by touch. */

    function held() {
      const sum = [0, 0];
      for (const name of down) MOVES[name].forEach((part, at) => (sum[at] += part));
      const [forward, turn] = sum.map(Math.sign);
      if (sent === forward + " " + turn) return;
      sent = forward + " " + turn;
      tell({ say: "keys", forward, turn });
    }

    function act(name) {
      const [forward, turn] = MOVES[name] || [0, 0];
      if (turn) page.heading += turn * TURN;
      else if (forward > 0) return ahead();
      else if (forward < 0) page.heading += Math.PI;
      wake();
      return undefined;
    }

    function tilted(by) {
      page.tilt = Math.max(-3 * TILT, Math.min(3 * TILT, page.tilt + by));
      wake();
    }

    function pressed(event) {
      if (page.gone || event.ctrlKey || event.metaKey || event.altKey || !node.isConnected) return;
      const name = event.key.toLowerCase();
      const inside = event.target.closest && event.target.closest("button, a, input, textarea, summary");
      if (inside && (name === "enter" || name === " ")) return;
      if (page.now.phase === "done") return;
      if (page.now.phase === "paused" && !page.asked) tell({ say: "keys" });
      if (name === "enter") ask();
      else if (name === "escape" && page.asked) unask();
      else if (name === "p") tell({ say: "pause" });
      else if (name === "r" || name === "f") tilted(name === "r" ? TILT : -TILT);
      else if (page.now.motion === "hops" && /^[1-9]$/.test(name)) hop(Number(name));
      else if (MOVES[name]) {
        unask();
        if (page.now.motion === "hops") act(name);
        else {
          down.add(name);
          held();
        }
      } else return;
      event.preventDefault();
      event.stopPropagation();
    }

    function released(event) {
      if (down.delete(event.key.toLowerCase())) held();
    }

    function lost() {
      down.clear();
      if (!page.gone) held();
    }

    function hid() {
      if (document.hidden && page.now.phase === "walking") tell({ say: "pause" });
    }

    function buttons(motion) {
      const each = (name, sign, label) => {
        const made = button(sign, () => motion === "hops" && act(name), { "aria-label": label });
        if (motion === "hops") return made;
        for (const kind of ["pointerdown", "keydown"]) made.addEventListener(kind, (event) => {
          if (kind === "keydown" && event.key !== "Enter" && event.key !== " ") return;
          down.add(name);
          held();
        });
        for (const kind of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) made.addEventListener(kind, () => down.delete(name) && held());
        return made;
      };
      fill(pad, each("a", "↰", "turn left"), each("w", "↑", motion === "hops" ? "go on to the nearest circle" : "walk"),
        each("s", "↓", motion === "hops" ? "look behind you" : "go back"), each("d", "↱", "turn right"),
        button("I am there", ask, { class: "main" }), button("pause", () => tell({ say: "pause" })));
    }

    /* The end is theirs, asked for once more. */

    function ask() {
      if (page.asked || page.now.phase !== "walking") {
        if (page.asked) stop();
        return;
      }
      page.asked = true;
      lost();
      fill(asking, el("p", {}, "You are where the instruction leads? It ends here, for good."), el("p", { class: "actions" },
        button(["yes, I am there ", el("kbd", {}, "Enter")], stop, { class: "main" }), button(["no, go on ", el("kbd", {}, "Esc")], unask)));
    }

    function unask() {
      if (!page.asked) return;
      page.asked = false;
      fill(asking);
      view.focus({ preventScroll: true });
    }

    async function stop() {
      page.asked = false;
      fill(asking, el("p", {}, "One moment …"));
      await tell({ say: "stop" });
      wake();
    }

    function done() {
      const seconds = Math.round(page.now.seconds * 10) / 10;
      down.clear();
      if (!item.id) {
        practised();
        return;
      }
      const kept = () => {
        pad.hidden = help.hidden = true;
        const next = button(["next ", el("kbd", {}, "Enter")], tools.next, { class: "main" });
        fill(asking, el("p", {}, "It ended here. Take a break where you like: no time is counted between walks."),
          el("p", { class: "actions" }, next));
        next.focus();
      };
      const id = item.said && item.said.status === "answered" ? null : tools.fresh();
      if (id) tools.say({ id, item: item.id, status: "answered", answers: {}, seconds: seconds || 0 }, kept);
      else kept();
    }

    function leave() {
      if (page.gone) return;
      page.gone = true;
      window.removeEventListener("keydown", pressed, true);
      window.removeEventListener("keyup", released, true);
      window.removeEventListener("blur", lost);
      document.removeEventListener("visibilitychange", hid);
      URL.revokeObjectURL(shown);
      if (page.now.phase === "walking") Navloom.post("walk/tell", { item: item.id, say: "pause" }).catch(() => {});
      wake();
    }

    window.addEventListener("keydown", pressed, true);
    window.addEventListener("keyup", released, true);
    window.addEventListener("blur", lost);
    document.addEventListener("visibilitychange", hid);
    view.addEventListener("pointerdown", () => page.now.phase === "paused" && tell({ say: "keys" }));
    return { node, begin, leave };
  }
})();
