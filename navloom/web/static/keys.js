/* Keys: everything a mouse can do, and a list of them. */
"use strict";

(function () {
  const { el } = Navloom;
  const WORDS = [
    ["j k", "next and previous row, or sample"],
    ["Enter", "open the row"],
    ["Esc", "back: out of a field, to the list"],
    ["← →", "previous and next step"],
    ["space", "play and stop"],
    ["[ ]", "previous and next sample"],
    ["/", "filter"],
    ["+ - 0", "map: nearer, farther, whole"],
    ["?", "this list"],
  ];
  let [bound, listed] = [{}, WORDS];

  function help() {
    const close = () => box.close();
    const box = el("dialog", { "aria-labelledby": "keys-title", close: () => box.remove() },
      el("h2", { id: "keys-title" }, "Keys"),
      el("table", {}, el("tbody", {}, listed.map(([keys, words]) => el("tr", {},
        el("td", {}, keys.split(" ").map((key) => [el("kbd", {}, key), " "])), el("td", {}, words))))),
      el("p", {}, el("button", { type: "button", click: close }, "close")));
    document.body.append(box);
    box.showModal();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const field = event.target.closest && event.target.closest("input, textarea, select");
    if (field) {
      if (event.key === "Escape") field.blur();
      if (!["checkbox", "range", "radio"].includes(field.type)) return;
      if (field.type !== "checkbox" && event.key.startsWith("Arrow")) return;
    }
    const pressed = event.target.closest && event.target.closest("button, a, summary");
    if (pressed && (event.key === "Enter" || event.key === " ")) return;
    if (event.key === "?") help();
    else if (bound[event.key]) bound[event.key](event);
    else return;
    event.preventDefault();
  });

  Navloom.keys = {
    help,
    page: (keys, words) => {
      [bound, listed] = [keys, words || WORDS];
    },
  };
})();
