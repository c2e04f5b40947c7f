/* A rater's pages: consent, items one by one, pause, thanks; and the links for the owner. */
"use strict";

(function () {
  const { el } = Navloom;
  const OPEN = new Set(["", "withdrawn"]);
  const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (each) => each.toString(16).padStart(2, "0")).join("");

  /* Where answers go: to the server, or, of the form without one, into this browser. */

  const served = {
    me: () => Navloom.room("people/me"),
    item: (place) => Navloom.room("people/item/" + place),
    plan: (key) => Navloom.room("people/plan/" + key),
    say: (body) => Navloom.post("people/say", body),
  };

  const filed = {
    key: async () => {
      const me = await Navloom.doc("people/me");
      return "navloom-people-" + me.study + "-" + me.rater;
    },
    lines: async () => JSON.parse(Navloom.kept("local", await filed.key()) || "[]"),
    me: async () => {
      const [me, lines] = [await Navloom.doc("people/me"), await filed.lines()];
      const last = new Map(lines.map((each) => [each.item || "", each.status]));
      return { ...me, part: last.get("") || "", items: me.ids.map((id) => last.get(id) || "") };
    },
    item: async (place) => {
      const item = await Navloom.doc("people/item/" + place);
      const said = (await filed.lines()).filter((each) => each.item === item.id).pop();
      return { ...item, said: said || null };
    },
    plan: (key) => Navloom.doc("plan/" + key),
    say: async (body) => {
      const [me, lines] = [await filed.me(), await filed.lines()];
      const line = (more) => ({ ...more, rater: me.rater });
      lines.push(line(body));
      if (body.status === "withdrawn") {
        me.ids.forEach((id, at) => OPEN.has(me.items[at]) || lines.push(line({ id: fresh(), item: id, status: "withdrawn" })));
      }
      const text = JSON.stringify(lines);
      if (Navloom.kept("local", await filed.key(), text) !== text) throw new Error("This browser keeps nothing.");
    },
    save: async () => {
      const me = await filed.me();
      const told = { format: "navloom.answers/1", study: me.study, rater: me.rater, ratings: await filed.lines() };
      const href = URL.createObjectURL(new Blob([JSON.stringify(told)], { type: "application/json" }));
      el("a", { href, download: "answers-" + me.rater + ".json" }).click();
      setTimeout(() => URL.revokeObjectURL(href), 10000);
    },
  };

  const store = () => (Navloom.offline ? filed : served);

  /* How long an item was seen: while its page is there and looked at. */

  let watch = { stop: () => 0 };

  function clock(before) {
    watch.stop();
    let [total, since] = [before, document.hidden ? null : performance.now()];
    function look() {
      if (since !== null) total += (performance.now() - since) / 1000;
      since = document.hidden ? null : performance.now();
    }
    document.addEventListener("visibilitychange", look);
    const seconds = () => {
      look();
      return Math.round(total * 10) / 10;
    };
    watch = { seconds, stop: () => {
      const found = seconds();
      since = null;
      document.removeEventListener("visibilitychange", look);
      return found;
    } };
    return watch;
  }

  const go = (...parts) => Navloom.go(Navloom.address(["people", ...parts]));
  const button = (words, click, more) => el("button", { type: "button", click, ...(more || {}) }, words);

  /** Say something; where that fails the page stays as it is, and says so. */
  async function say(body, then) {
    try {
      await store().say(body);
    } catch (error) {
      Navloom.tell("✕ Not saved: " + error.message + " What you said stands here still: try again.", "bad");
      return;
    }
    then();
  }

  function onward(me, from) {
    const order = [...me.items.keys()];
    const next = [...order.slice(from), ...order.slice(0, from)].find((at) => OPEN.has(me.items[at]));
    return next === undefined ? ["end"] : ["item", next + 1];
  }

  /* Whether only what was skipped is gone through. */
  let skipped = false;

  /** After an item comes the next, also of those that are answered; or the next that was skipped. */
  function after(me, place) {
    if (!skipped) return place + 1 < me.items.length ? ["item", place + 2] : onward(me, 0);
    const next = me.items.findIndex((status, at) => at > place && (status === "skipped" || OPEN.has(status)));
    return next < 0 ? ["end"] : ["item", next + 1];
  }

  Navloom.pages.people = async function (parts) {
    watch.stop();
    if (!Navloom.rating()) return owner();
    const me = await store().me();
    const page = { item: itemPage, pause, end: thanks }[parts[1]];
    if (me.part === "") return consent(me);
    if (me.part === "withdrawn") return withdrawn(me);
    if (!page) {
      location.replace(Navloom.address(["people", ...onward(me, 0)]));
      return { title: me.title, nodes: [] };
    }
    return page(me, parts);
  };

  const words = (text) => (text || "").split(/\n\s*\n/).filter(Boolean).map((each) => el("p", { class: "words" }, each));

  function consent(me) {
    const agree = () => say({ id: fresh(), status: "consented" }, () => Navloom.show());
    return {
      title: me.title, lead: Navloom.plural(me.items.length, "item") + ". You are " + me.rater + ".",
      nodes: [el("section", { class: "card" }, words(me.consent), el("p", { class: "actions" }, button("I agree, begin", agree, { class: "main" })),
        el("p", { class: "note" }, Navloom.offline ? "Your answers stay in this browser until you save them as a file."
          : "Keep your link: it leads back to where you were, in any browser."))],
    };
  }

  function withdrawn(me) {
    const again = () => say({ id: fresh(), status: "consented" }, () => go());
    return {
      title: "You have withdrawn",
      nodes: [el("section", { class: "card" }, el("p", {}, "What you said is marked as withdrawn and is never counted. You can close this page."),
        saving(), el("p", { class: "actions" }, button("take part after all, from the beginning", again)))],
      lead: me.title,
    };
  }

  function pause(me) {
    return {
      title: "Pause", lead: me.title,
      nodes: [el("section", { class: "card" }, el("p", {}, "No time is counted. What you said is kept" + (Navloom.offline ? " in this browser." : ".")),
        el("p", { class: "actions" }, button("go on", () => go(...onward(me, 0)), { class: "main" })), saving())],
    };
  }

  function saving() {
    if (!Navloom.offline) return null;
    return el("p", { class: "actions" }, button("save my answers as a file", () => filed.save()), el("span", { class: "note" }, "Send the file to whoever gave you this form."));
  }

  function thanks(me) {
    const left = me.items.filter((each) => OPEN.has(each)).length;
    const passed = me.items.filter((each) => each === "skipped").length;
    skipped = false;
    const again = () => {
      skipped = true;
      go(...after(me, -1));
    };
    return {
      title: left ? "Not done yet" : "Done", lead: me.title,
      nodes: [el("section", { class: "card" }, left ? el("p", {}, Navloom.plural(left, "item"), " to go.") : words(me.thanks),
        passed ? el("p", { class: "actions" }, "You skipped ", Navloom.plural(passed, "item"), ". ", button("go through what I skipped", again)) : null, saving(), list(me), leave(me))],
    };
  }

  function list(me) {
    const said = { answered: "answered", skipped: "skipped" };
    return el("details", {}, el("summary", {}, "All items"), el("ol", { class: "items" }, me.items.map((status, at) =>
      el("li", {}, el("a", { href: Navloom.address(["people", "item", at + 1]) }, "item " + (at + 1)), " ", said[status] || "open"))));
  }

  function leave(me) {
    const ask = el("p", { class: "actions", hidden: true }, "All that you said will never be counted. ",
      button("yes, withdraw", () => say({ id: fresh(), status: "withdrawn" }, () => go())),
      button("no", () => {
        ask.hidden = true;
      }));
    return el("div", { class: "leave" }, button("withdraw", () => {
      ask.hidden = false;
      ask.querySelector("button").focus();
    }), ask, el("span", { class: "note" }, "You are " + me.rater + "."));
  }

  const KEYS = [["1 2 …", "the answer of this place"], ["Tab", "the next question"], ["]", "next"], ["[", "back"],
    ["Esc", "out of a field"], ["+ - 0", "map: nearer, farther, whole"], ["?", "this list"]];

  /* An item. What a form asks decides what its page shows: Navloom.itemPages by the item's page. */

  Navloom.itemPages = {};

  async function itemPage(me, parts) {
    const place = Math.floor(Number(parts[2])) - 1;
    if (!(place >= 0 && place < me.items.length)) return thanks(me);
    const item = await store().item(place);
    const tools = {
      me, place, store: store(), clock, say, fresh,
      next: async () => go(...onward(await store().me(), place + 1)),
      step: async () => go(...after(await store().me(), place)),
      head: (inside) => [el("div", { class: "progress" },
        el("progress", { max: me.items.length, value: me.items.filter((each) => !OPEN.has(each)).length, "aria-label": "items done" }),
        el("span", {}, "item " + (place + 1) + " of " + me.items.length), inside, button("pause", () => go("pause")))],
      foot: () => leave(me),
    };
    const shown = Navloom.itemPages[item.page];
    if (!shown) throw new Error("This page does not know items of the kind '" + item.page + "': open it in a newer version.");
    return { title: me.title, ...(await shown(item, tools)) };
  }

  /** Blocks that are looked at, and questions about them. */
  Navloom.itemPages.read = function (item, tools) {
    const { me, place } = tools;
    const key = "navloom-draft-" + me.study + "-" + me.rater + "-" + item.id;
    const kept = JSON.parse(Navloom.kept("session", key) || "null");
    const before = kept || (item.said && item.said.status === "answered" ? item.said : {});
    const time = tools.clock(Math.max(0, ...[kept, item.said].map((each) => (each && each.seconds) || 0)));
    let id = tools.fresh();
    const draft = () => Navloom.kept("session", key, JSON.stringify({ answers: asked.answers(), seconds: time.seconds() }));
    const asked = Navloom.asked(me.questions, item, before.answers || {}, () => {
      id = tools.fresh();
      draft();
    });
    const context = { query: {}, floors: "all", address: () => "#/people/item/" + (place + 1), go: () => {}, plan: tools.store.plan };
    const shown = el("div", { class: "shown" }, Navloom.blocksOf(item.blocks, context));
    asked.picks(shown);
    const status = (status, answers) => tools.say({ id, item: item.id, status, answers, seconds: time.seconds() }, () => {
      Navloom.kept("session", key, null);
      tools.step();
    });
    function answer() {
      const lacks = asked.missing();
      if (!lacks) return status("answered", asked.answers());
      Navloom.tell("✕ An answer is missing: " + lacks.question.text, "bad");
      lacks.focus();
      lacks.node.scrollIntoView({ block: "nearest" });
    }
    const leaving = (where) => {
      draft();
      go(...where);
    };
    const back = place ? () => leaving(["item", place]) : null;
    const keys = { "]": answer, "[": () => back && back() };
    for (let digit = 0; digit <= 9; digit++) keys[digit] = () => asked.press(digit);
    return {
      nodes: [tools.head(null), el("div", { class: "rate" }, shown, el("section", { class: "card ask", "aria-label": "questions" }, asked.node,
        el("p", { class: "actions" }, back ? button(["back ", el("kbd", {}, "[")], back) : null,
          button("skip", () => status("skipped", {})), button(["next ", el("kbd", {}, "]")], answer, { class: "main" })))), tools.foot()],
      keys, keyWords: KEYS,
    };
  };

  /* The owner: a link for each rater. */

  async function owner() {
    if (Navloom.offline) return { title: "Links", nodes: [el("p", {}, "Links are given out by `navloom view` of the study's folder.")] };
    const studies = await Navloom.room("people/links");
    const base = location.origin + location.pathname;
    const rows = (study) => study.links.map((each) => el("tr", {}, el("th", { scope: "row" }, each.rater),
      el("td", {}, each.items.filter((status) => status === "answered").length + " of " + each.items.length),
      el("td", {}, { consented: "takes part", withdrawn: "withdrew" }[each.part] || "not begun"),
      el("td", {}, el("input", { type: "text", readonly: true, value: base + "#rater=" + each.token, "aria-label": "link of " + each.rater,
        focus: (event) => event.target.select() }))));
    return {
      title: "Links for raters", lead: "Give each person one link: whoever has it rates under its pseudonym, and sees that form alone.",
      crumbs: [["all", "#/?all=1"], ["links", null]],
      nodes: studies.map((study) => el("section", { class: "card" }, el("h2", {}, study.title, " ", el("span", { class: "quiet" }, study.study)),
        Navloom.wide("links of " + study.study, el("table", { class: "links" }, el("thead", {}, el("tr", {},
          ["rater", "answered", "", "link"].map((cell) => (cell ? el("th", { scope: "col" }, cell) : el("td"))))), el("tbody", {}, rows(study)))))),
    };
  }
})();
