/* The list of conversations: open, new, rename, delete; those of other homes with the command that opens them. */
"use strict";

(function () {
  const { el, fill } = Navloom;
  const UNITS = [["minute", 60], ["hour", 3600], ["day", 86_400]];
  const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

  function when(said) {
    const seconds = (Date.now() - Date.parse(said)) / 1000;
    if (!Number.isFinite(seconds)) return "";
    if (seconds < 60) return "now";
    const [unit, size] = [...UNITS].reverse().find(([, each]) => seconds >= each);
    return seconds > 30 * 86_400 ? said.slice(0, 10) : ago.format(-Math.floor(seconds / size), unit);
  }

  Navloom.chatThreads = function (page, trouble) {
    const list = el("ul", {});
    const notes = el("div", {});
    const close = el("button", { type: "button", class: "close", "aria-label": "close the list", click: () => shut() }, "✕");
    const node = el("nav", { class: "chat-threads", "aria-label": "threads" },
      el("div", { class: "head" }, el("h2", {}, "Threads"), el("button", { type: "button", class: "new", click: () => add() }, "+ New"), close), list, notes);
    const open = el("button", { type: "button", class: "show-threads", "aria-expanded": "false", click: () => focus() }, "☰ ", page.thread);
    const bar = el("div", { class: "chat-bar" }, open);
    node.addEventListener("keydown", (event) => event.key === "Escape" && node.classList.contains("open") && (event.stopPropagation(), shut()));

    function shut() {
      node.classList.remove("open");
      open.setAttribute("aria-expanded", "false");
      open.focus();
    }
    function focus() {
      node.classList.add("open");
      open.setAttribute("aria-expanded", "true");
      (list.querySelector("a") || node.querySelector(".new")).focus();
    }
    const to = (name) => Navloom.address(["chat", name]);

    async function add() {
      try {
        Navloom.go(to((await Navloom.post("chat/new", {})).thread));
      } catch (error) {
        trouble(error.message);
      }
    }

    function rename(thread) {
      const input = el("input", { type: "text", value: thread.name, maxlength: 64, "aria-label": "new name", autocomplete: "off", spellcheck: "false" });
      const wrong = el("p", { class: "bad", role: "alert" });
      Navloom.dialog("Rename " + thread.name, [input, wrong], [["Rename", async () => {
        if (input.value.trim() === thread.name) return true;
        try {
          await Navloom.post("chat/rename", { thread: thread.name, name: input.value.trim() });
          return refresh();
        } catch (error) {
          fill(wrong, "✕ ", error.message);
          return false;
        }
      }, "main"]]);
      input.select();
    }

    function remove(thread) {
      const wrong = el("p", { class: "bad", role: "alert" });
      Navloom.dialog("Delete " + thread.name + "?", [el("p", {}, Navloom.plural(thread.lines, "line") + " and every pose are gone then. This cannot be undone."), wrong],
        [["Delete", async () => {
          try {
            await Navloom.post("chat/delete", { thread: thread.name });
            if (thread.name === page.thread) Navloom.go("#/chat");
            else refresh();
            return true;
          } catch (error) {
            fill(wrong, "✕ ", error.message);
            return false;
          }
        }, "danger"]]);
    }

    function row(thread) {
      const current = thread.name === page.thread;
      const said = [el("span", { class: "name" }, thread.name), el("span", { class: "quiet when" }, when(thread.when)),
        el("span", { class: "quiet last" }, thread.held ? "open in another process" : thread.last || "nothing was said yet")];
      if (!thread.here) {
        return el("li", { class: "elsewhere" }, said, el("span", { class: "quiet" }, thread.scene, ": "), el("code", { tabindex: 0 }, thread.command));
      }
      const label = (words) => words + " " + thread.name;
      return el("li", { class: current ? "current" : null }, el("a", { href: to(thread.name), "aria-current": current ? "page" : null }, said),
        el("span", { class: "acts" }, el("button", { type: "button", "aria-label": label("rename"), title: "rename", click: () => rename(thread) }, "✎"),
          el("button", { type: "button", "aria-label": label("delete"), title: "delete", click: () => remove(thread) }, "✕")));
    }

    async function refresh() {
      try {
        const told = await Navloom.room("chat/threads");
        const here = told.threads.filter((thread) => thread.here);
        const others = told.threads.filter((thread) => !thread.here);
        if (!here.some((thread) => thread.name === page.thread)) here.unshift({ name: page.thread, here: true, when: "", lines: page.lines.length, last: "", held: false });
        fill(list, here.map(row), others.length ? el("li", { class: "head quiet" }, "In other homes") : null, others.map(row));
        fill(notes, told.notes.map((line) => el("p", { class: "note" }, line)));
      } catch (error) {
        fill(notes, Navloom.broken(error));
      }
      return true;
    }
    /** What was said last, of the one that is open. */
    function last(words) {
      const place = list.querySelector("li.current .last");
      if (place) place.textContent = words;
    }
    return { node, bar, refresh, add, focus, last };
  };
})();
