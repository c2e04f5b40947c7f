/* A conversation as lines, tool calls folded between them, and the field one writes in. */
"use strict";

(function () {
  const { el, fill } = Navloom;
  const DOING = { opening: "opening …", listening: "listening", thinking: "thinking …", walking: "walking", asking: "waits for your answer" };
  const WHO = { person: "You", robot: "Robot", note: "Note", error: "Error" };
  const SHORT = 60;
  const NEAR = 60;

  Navloom.chatTalk = function (page, act) {
    const lines = el("div", { class: "chat-lines", role: "log", "aria-live": "off", "aria-label": "what was said", tabindex: 0 });
    const choices = el("div", { class: "chat-choices", role: "group", "aria-label": "answers" });
    const doing = el("span", { class: "doing", role: "status" });
    const facts = el("span", { class: "quiet facts-line" });
    const model = el("button", { type: "button", class: "plain", title: "which model thinks", click: () => askModel() });
    const field = el("textarea", { rows: 1, "aria-label": "What you say to the robot", placeholder: "Say where to go, or ask …",
      autocomplete: "off", input: () => grow(), keydown: pressed });
    const send = el("button", { type: "submit", class: "send" });
    const form = el("form", { class: "chat-field", submit: (event) => {
      event.preventDefault();
      if (!field.value.trim() && act.busy()) act.stop();
      else say();
    } }, field, send);
    const file = el("input", { type: "file", accept: ".json,application/json", class: "hidden", tabindex: -1, "aria-label": "a saved conversation", change: () => {
      if (file.files[0]) act.replayFile(file.files[0]);
      file.value = "";
    } });
    const item = (words, work) => el("button", { type: "button", click: () => {
      more.open = false;
      work();
    } }, words);
    const more = el("details", { class: "menu" }, el("summary", {}, "More"), el("div", {},
      item("Replay this conversation", act.replay), item("Replay a saved one …", () => file.click()), item("Save the conversation", act.save),
      item("Save the map as a picture", act.picture), item("Take back the last instruction", () => act.undo()), item("What one can say", act.help)));
    more.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !more.open) return;
      event.stopPropagation();
      more.open = false;
      more.querySelector("summary").focus();
    });
    document.addEventListener("click", (event) => more.open && !more.contains(event.target) && (more.open = false));
    const down = el("button", { type: "button", class: "chat-down", hidden: true, click: () => bottom(true) }, "↓ newest");
    const node = el("div", { class: "chat-talk" }, el("div", { class: "chat-scroll" }, lines, down), choices,
      el("div", { class: "chat-foot" }, form, el("div", { class: "chat-now" }, doing, model, facts, more, file)));
    lines.addEventListener("scroll", () => (down.hidden = isLow()));

    const isLow = () => lines.scrollHeight - lines.scrollTop - lines.clientHeight < NEAR;
    function bottom(always) {
      if (always) lines.scrollTop = lines.scrollHeight;
      down.hidden = isLow();
    }
    /** Add what is made; who reads further up is left there. */
    function put(made, before) {
      const low = isLow();
      if (before) lines.insertBefore(made, before);
      else lines.append(made);
      bottom(low);
    }

    /* Lines. */

    function bubble(line) {
      const undo = line.who === "person" && Number.isInteger(line.line)
        ? el("button", { type: "button", class: "undo", title: "Take this back, and all after it", "aria-label": "Take back: " + shortened(line.text),
          click: () => act.undo(line.line) }, "↶") : null;
      return el("div", { class: "chat-line of-" + (WHO[line.who] ? line.who : "note") }, el("span", { class: "hidden" }, (WHO[line.who] || "Note") + ": "),
        undo, el("p", {}, line.who === "error" ? "✕ " : "", line.text));
    }
    const shortened = (text) => (text.length > SHORT ? text.slice(0, SHORT) + " …" : text);

    let turns = new Map();
    let written = null;

    function line(said) {
      if (said.who === "person") fill(hello);
      put(bubble(said), said.who === "person" ? null : written);
      if (said.who === "person") bottom(true);
    }

    const hello = el("div", { class: "chat-hello" });
    function whole() {
      lines.replaceChildren(hello);
      [turns, written] = [new Map(), null];
      fill(hello, page.lines.length ? null : [el("p", { class: "large" }, "Where shall I go?"),
        el("p", {}, "Say it in your own words, or try one of these:"),
        el("div", { class: "chat-try" }, ["what do you see?", "which rooms are there?", page.home.rooms.length ? "go to " + page.home.rooms[page.home.rooms.length - 1].name : "turn around"]
          .map((words) => el("button", { type: "button", click: () => act.say(words) }, words)))]);
      const met = new Set();
      for (const each of page.lines) {
        lines.append(bubble(each));
        if (each.who !== "person" || met.has(each.turn)) continue;
        met.add(each.turn);
        for (const made of page.calls.filter((one) => one && one.turn === each.turn)) call(made);
      }
      writing();
      bottom(true);
    }

    /* Tool calls: those of a turn on one lid, each with its words in and out. */

    function call(made) {
      if (!turns.has(made.turn)) {
        const said = el("summary", {});
        const list = el("ol", {});
        const group = el("details", { class: "chat-calls" }, said, list);
        turns.set(made.turn, { said, list, group, calls: new Map() });
        put(group, written);
      }
      const turn = turns.get(made.turn);
      const row = turn.calls.get(made.id) || { item: el("li", {}) };
      [row.name, row.open] = [made.name, made.answer === null];
      if (!turn.calls.has(made.id)) turn.list.append(row.item);
      turn.calls.set(made.id, row);
      const args = typeof made.args === "string" ? made.args : Object.entries(made.args || {}).map(([name, value]) => name + ": " + told(value)).join(", ");
      fill(row.item, el("code", {}, made.name + "(" + args + ")"),
        made.answer === null ? el("p", { class: "quiet" }, "under way …") : answerOf(made.answer));
      const names = [...turn.calls.values()].map((each) => each.name);
      turn.said.textContent = Navloom.plural(names.length, "step") + ": " + shortened(names.join(", ")) + ([...turn.calls.values()].some((each) => each.open) ? " …" : "");
    }
    const told = (value) => (typeof value === "string" ? value : JSON.stringify(value));
    function answerOf(answer) {
      if (typeof answer !== "object") return el("pre", { tabindex: 0 }, String(answer));
      return el("dl", {}, Object.entries(answer).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, told(value)))));
    }

    /* What is on its way. */

    function writing() {
      const wait = page.now.doing === "thinking";
      if (!page.writing && !wait) {
        if (written) written.remove();
        written = null;
        return;
      }
      const low = isLow();
      if (!written) lines.append(written = el("div", { class: "chat-line of-robot writing", "aria-hidden": "true" }, el("p", {})));
      else if (written.nextSibling) lines.append(written);
      written.classList.toggle("waits", !page.writing);
      written.firstChild.textContent = page.writing || "● ● ●";
      bottom(low);
    }

    function now() {
      const { doing: what, to, model: name, tokens, cost, limits } = page.now;
      doing.textContent = what === "walking" && to ? "walking to " + (/^(the|a|an) /.test(to) ? "" : "the ") + to : DOING[what] || what;
      doing.dataset.doing = what;
      model.textContent = name || "";
      model.setAttribute("aria-label", "model: " + (name || "") + "; let another one think");
      facts.textContent = [tokens ? tokens.toLocaleString("en") + " tokens" : "", cost ? Navloom.said(cost, "dollars") : cost === null ? "price not known" : "", ...(limits || [])].filter(Boolean).join(" · ");
      label();
      writing();
      const low = isLow();
      fill(choices, page.now.choices.map((words, i) => el("button", { type: "button", click: () => act.say(words) }, i < 9 ? el("kbd", {}, String(i + 1)) : null, " ", words)));
      bottom(low);
    }

    function replay() {
      lines.replaceChildren();
      [turns, written] = [new Map(), null];
      fill(choices);
    }

    /* The field. */

    function label() {
      const stop = act.busy() && !field.value.trim();
      send.textContent = stop ? "■" : "↑";
      send.setAttribute("aria-label", stop ? "Stop" : "Send");
      send.title = stop ? "Stop (Esc)" : "Send (Enter)";
      send.disabled = !stop && !field.value.trim();
    }
    function grow() {
      field.rows = Math.min(6, Math.max(1, field.value.split("\n").length + Math.floor(field.value.length / 70)));
      label();
    }
    async function say() {
      const words = field.value;
      field.value = "";
      grow();
      if (!(await act.say(words)) && !field.value) write(words);
    }
    function write(words) {
      if (field.value.trim()) return;
      field.value = words;
      grow();
    }
    /** Put a name where one writes. */
    function name(words) {
      const before = field.value.slice(0, field.selectionStart);
      if (/(^|\s)the\s*$/i.test(before)) words = words.replace(/^the /, "");
      const after = field.value.slice(field.selectionEnd);
      if (before.trimEnd().endsWith(words)) return;
      field.setRangeText((before && !before.endsWith(" ") ? " " : "") + words + (after && !after.startsWith(" ") ? " " : ""), field.selectionStart, field.selectionEnd, "end");
      grow();
      field.focus();
    }
    function pressed(event) {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      const choice = /^[1-9]$/.test(event.key) && !field.value && page.now.choices[event.key - 1];
      if (event.key === "Enter" && !event.shiftKey) say();
      else if (event.key === "Escape" && act.busy()) act.stop();
      else if (choice) act.say(choice);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    function askModel() {
      const input = el("input", { type: "text", value: page.now.model, "aria-label": "model", maxlength: 300, autocomplete: "off", spellcheck: "false" });
      Navloom.dialog("Which model thinks", [el("p", {}, "From now on, in this conversation: ", el("code", {}, "provider/name"), ", or builtin/heuristic for rules."), input],
        [["Let it think", () => act.model(input.value.trim()), "main"]]);
      input.select();
    }
    grow();
    return { node, whole, line, call, writing, now, replay, write, name, askModel, focus: () => field.focus() };
  };
})();
