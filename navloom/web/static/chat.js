/* The chat: a conversation, the map beside it, and what happens in it as it happens. */
"use strict";

(function () {
  const { el, fill } = Navloom;
  const AGAIN = [500, 1000, 2000, 4000, 8000];
  const BUSY = new Set(["thinking", "walking"]);
  const KEYS = [["Enter", "say it"], ["Esc", "stop the walk, or the thinking"], ["1 2 3", "answer a question by its choices"],
    ["u", "take back the last instruction"], ["i", "to the field"], ["n", "new thread"], ["t", "threads"],
    ["r", "replay"], ["+ - 0", "map: nearer, farther, whole"], ["?", "this list"]];
  const HELP = [["Where to go", "go to the kitchen · take me to the sofa · turn left · go upstairs · come back"],
    ["Ask", "what do you see? · where are you? · is there a fridge near?"],
    ["Correct", "no, the other one · not the sofa, the fridge"],
    ["While it walks", "any new words, or Esc, stop it at the next place; keep going takes the walk up again"],
    ["On the map", "a click on a room or a thing writes its name into the field"],
    ["Typed", "/undo · /save · /map · /replay · /model NAME · /help"]];
  let under = null;
  let home = null;

  Navloom.pages.chat = async function (parts) {
    if (under) under.leave();
    if (Navloom.offline) throw new Error("A conversation needs its server: navloom chat SCENE --display web.");
    if (!parts[1]) {
      const { first } = await Navloom.room("chat/threads");
      location.replace(Navloom.address(["chat", first]));
      return { title: "Chat", nodes: [] };
    }
    home = home || (await Navloom.room("chat/home"));
    under = made(parts[1]);
    setTimeout(under.begin, 0);
    return {
      title: parts[1] + " in " + home.scene, keys: under.keys, keyWords: KEYS, nodes: [under.node],
      crumbs: [[home.scene, null], [parts[1], null]],
    };
  };

  /* A page that another one took the place of hears nothing more. */
  window.addEventListener("hashchange", () => setTimeout(() => under && !under.node.isConnected && under.leave(), 0));
  document.addEventListener("visibilitychange", () => under && (document.hidden ? under.pause() : under.begin()));

  function made(thread) {
    const path = (what) => "chat/" + what + "/" + encodeURIComponent(thread);
    const page = { thread, home, lines: [], calls: [], poses: [], writing: "", now: { doing: "opening", choices: [], ahead: [], limits: [] }, last: "" };
    let [stream, tries, left, replay, again] = [null, 0, false, null, 0];

    const problem = el("div", { class: "chat-problem", role: "alert" });
    const heard = el("div", { class: "hidden", "aria-live": "polite" });
    function trouble(words, act) {
      fill(problem, words ? [el("span", {}, "✕ ", words), act ? el("button", { type: "button", click: act[1] }, act[0]) : null,
        act ? null : el("button", { type: "button", "aria-label": "dismiss", click: () => trouble("") }, "✕")] : null);
    }
    const told = (what, body) => Navloom.post("chat/" + what, { thread, ...body });
    /** Do something; what goes wrong is one line. */
    const tried = (work) => async (...given) => {
      try {
        trouble("");
        return await work(...given);
      } catch (error) {
        trouble(error.message);
        return undefined;
      }
    };

    const act = {
      stop: tried(() => told("stop", {})),
      undo: tried(async (line) => {
        const { words } = await told("undo", { to: line === undefined ? null : line });
        if (words === null) return trouble("There is nothing to undo.");
        heard.textContent = "Undone: " + words;
        talk.write(words);
        return undefined;
      }),
      model: tried((name) => told("model", { name })),
      async say(words) {
        if (!words.trim()) return true;
        if (words.trim().startsWith("/")) return typed(words.trim());
        if (words.length > home.most) {
          trouble(`That has ${words.length.toLocaleString("en")} characters; say it in at most ${home.most.toLocaleString("en")}.`);
          return false;
        }
        if (replay) replay.end();
        return (await tried(() => told("say", { words }))()) !== undefined;
      },
      save: tried(async () => given(thread + ".json", new Blob([JSON.stringify(await Navloom.room("chat/save/" + thread), null, 1)], { type: "application/json" }))),
      picture: tried(async () => given(thread + ".png", await blobOf(path("map")))),
      replay: () => play(page.lines.filter((line) => line.who !== "error"), page.poses),
      replayFile: tried(async (file) => {
        const text = await file.text();
        let small = text;
        try {
          small = JSON.stringify(JSON.parse(text));
        } catch {
          /* The server says what is wrong with it. */
        }
        const saved = await Navloom.post("chat/replay", { name: file.name, text: small });
        play(saved.lines, saved.poses, file.name);
      }),
      help: () => Navloom.dialog("What one can say", el("dl", { class: "facts one" }, HELP.map(([name, words]) =>
        el("div", {}, el("dt", {}, name), el("dd", {}, words))))),
      busy: () => BUSY.has(page.now.doing),
    };

    const map = Navloom.chatMap(home, tried(async (id) => talk.name((await Navloom.room("chat/name/" + id)).name)));
    const talk = Navloom.chatTalk(page, act);
    const threads = Navloom.chatThreads(page, trouble);
    const seen = el("img", { alt: "", hidden: true });
    const view = home.sees ? el("div", { class: "chat-view", tabindex: 0, role: "group", "aria-label": "what the robot sees" }, seen) : null;
    const player = el("div", { class: "chat-replay", hidden: true });
    const node = el("div", { class: "chat" }, threads.node,
      el("section", { class: "chat-side", "aria-label": "map" }, player, map.node, view),
      el("section", { class: "chat-main", "aria-label": "conversation" }, threads.bar, problem, talk.node), heard);

    /** What begins with a slash, as at a terminal. */
    function typed(line) {
      const [word, ...rest] = line.slice(1).split(/\s+/);
      const acts = { undo: () => act.undo(), save: act.save, map: act.picture, replay: act.replay, help: act.help,
        model: () => (rest.length ? act.model(rest.join(" ")) : talk.askModel()) };
      const known = Object.prototype.hasOwnProperty.call(acts, word.toLowerCase());
      if (!known) trouble("There is no command /" + word.slice(0, 40) + " here. /help lists what one can say.");
      else acts[word.toLowerCase()]();
      return known;
    }

    /* What happens. */

    const take = {
      whole(all) {
        /* Another server took this one's place: what is known of its home is known no more. */
        if (all.scene !== home.scene) return location.reload();
        Object.assign(page, all);
        if (replay) replay.end();
        talk.whole();
        walked();
        return take.now(all.now);
      },
      line(line) {
        page.lines.push(line);
        if (replay) return;
        talk.line(line);
        if (line.who === "robot" || line.who === "error") heard.textContent = line.text;
        if (line.who === "person") walked();
        if (page.lines.length === 1) threads.refresh();
        else threads.last(line.text);
      },
      call(call) {
        page.calls[call.id] = call;
        if (!replay) talk.call(call);
      },
      writing(text) {
        page.writing = text;
        if (!replay) talk.writing();
      },
      poses(more) {
        page.poses.push(...more);
        if (!replay) walked(more.length);
      },
      now(now) {
        const before = page.now.doing;
        page.now = now;
        talk.now();
        if (!replay) map.ahead(now.ahead);
        if (BUSY.has(before) && !BUSY.has(now.doing)) look();
      },
      threads: () => threads.refresh(),
      gone(why) {
        if (why.to) return location.replace(Navloom.address(["chat", why.to]));
        return trouble(why.why, ["Open it again", () => act.reopen()]);
      },
    };
    act.reopen = () => {
      trouble("");
      [page.last, tries] = ["", 0];
      begin();
    };

    /** Where the walk of the last instruction begins. */
    function begun(lines) {
      const last = lines.filter((line) => line.who === "person").pop();
      return last ? Math.max(0, last.at - 1) : 0;
    }
    function walked(steps) {
      map.walk(page.poses, begun(page.lines), steps || 0);
      look();
    }

    let [looking, wanted] = [false, false];
    /** Show what it sees; of those that are overtaken only the last is asked for. */
    async function look() {
      wanted = true;
      if (!home.sees || looking) return;
      looking = true;
      while (wanted && !replay && !left) {
        wanted = false;
        const answer = await Navloom.ask(path("view")).catch(() => null);
        if (!answer || answer.status !== 200) continue;
        const before = seen.src;
        seen.src = URL.createObjectURL(await answer.blob());
        seen.alt = "left, front, right and back from the " + page.poses[page.poses.length - 1][4];
        seen.hidden = false;
        if (before) URL.revokeObjectURL(before);
      }
      looking = false;
    }

    async function begin() {
      if (stream || left || document.hidden) return;
      clearTimeout(again);
      const mine = (stream = new AbortController());
      let ended = false;
      try {
        const answer = await Navloom.ask(path("events") + "?after=" + page.last, { signal: mine.signal });
        if (!answer.ok) {
          const said = await answer.json().catch(() => null);
          ended = true;
          trouble((said && said.error) || "The server said " + answer.status, ["Try again", act.reopen]);
        } else {
          tries = 0;
          trouble("");
          ended = await read(answer.body);
        }
      } catch (error) {
        if (!(error instanceof TypeError || error.name === "AbortError")) throw error;
        if (!mine.signal.aborted) trouble("The server does not answer: start it again to go on.", ["Try again", act.reopen]);
      }
      if (stream === mine) stream = null;
      if (!ended && !left && !mine.signal.aborted) again = setTimeout(begin, AGAIN[Math.min(tries++, AGAIN.length - 1)]);
    }

    async function read(body) {
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return false;
        rest += value;
        const events = rest.split("\n\n");
        rest = events.pop();
        for (const event of events) {
          const [, id, data] = /^id: (\S+)\ndata: (.*)$/s.exec(event) || [];
          if (!data) continue;
          page.last = id;
          const { kind, what } = JSON.parse(data);
          if (Object.prototype.hasOwnProperty.call(take, kind)) take[kind](what);
          if (kind === "gone") return true;
        }
      }
    }

    /* The walk once more. */

    function play(lines, poses, from) {
      if (replay) replay.end();
      let [k, at, timer, stopped] = [0, 1, 0, false];
      const said = el("span", {});
      replay = { end() {
        clearTimeout(timer);
        stopped = true;
        replay = null;
        player.hidden = true;
        talk.whole();
        walked();
        map.ahead(page.now.ahead);
      } };
      fill(player, said, el("button", { type: "button", click: () => replay && replay.end() }, "End the replay"));
      player.hidden = false;
      talk.replay();
      function step() {
        if (stopped || !node.isConnected) return;
        const next = lines[k];
        if (at < Math.min(next ? next.at : poses.length, poses.length)) {
          at += 1;
          map.walk(poses.slice(0, at), begun(lines.slice(0, k)), 1);
        } else if (next) {
          talk.line({ ...next, line: null });
          k += 1;
        } else {
          said.textContent = `End of the replay${from ? " of " + from : ""}: ${lines.length} lines, ${poses.length} poses. `;
          return;
        }
        said.textContent = `Replay${from ? " of " + from : ""}: pose ${at} of ${poses.length}. `;
        timer = setTimeout(step, next && at >= next.at ? 500 : 300);
      }
      map.walk(poses.slice(0, 1), 0, 0);
      map.ahead([]);
      step();
    }

    const pick = (number) => () => page.now.choices[number - 1] && act.say(page.now.choices[number - 1]);
    const keys = { Escape: () => (replay ? replay.end() : act.busy() && act.stop()), u: () => act.undo(), i: talk.focus, "/": talk.focus,
      n: threads.add, t: threads.focus, r: act.replay, "+": () => map.zoom(1), "-": () => map.zoom(-1), 0: () => map.zoom(0) };
    for (let number = 1; number < 10; number++) keys[number] = pick(number);
    const pause = () => {
      if (stream) stream.abort();
      stream = null;
    };
    return { node, keys, begin: () => {
      talk.now();
      begin();
      if (!page.last) threads.refresh();
      if (!page.last && matchMedia("(hover: hover)").matches) talk.focus();
    }, pause, leave() {
      left = true;
      pause();
      clearTimeout(again);
      if (replay) replay.end();
      if (seen.src) URL.revokeObjectURL(seen.src);
    } };
  }

  async function blobOf(path) {
    const answer = await Navloom.ask(path);
    if (!answer.ok) throw new Error(((await answer.json().catch(() => null)) || {}).error || "The server said " + answer.status);
    return answer.blob();
  }

  /** Hand a file over. */
  function given(name, blob) {
    const link = el("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    return true;
  }

  /** A dialog with a title; its buttons are [words, what happens]; Esc closes it. */
  Navloom.dialog = function (title, inside, buttons) {
    const box = el("dialog", { "aria-label": title, close: () => box.remove() },
      el("form", { method: "dialog" }, el("h2", {}, title), inside,
        el("p", { class: "actions" }, (buttons || []).map(([words, work, kind]) => el("button", { type: "button", class: kind || null, click: async () => {
          if ((await work()) !== false) box.close();
        } }, words)), el("button", { type: "button", click: () => box.close() }, buttons ? "Cancel" : "Close"))));
    box.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const [first] = box.querySelectorAll(".actions button");
      first.click();
    });
    document.body.append(box);
    box.showModal();
    return box;
  };
})();
