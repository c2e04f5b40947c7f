/* The frame around every page, and which page an address is. */
"use strict";

(function () {
  const { el, fill } = Navloom;

  function frame() {
    const main = el("main", { id: "main", tabindex: -1 });
    const crumbs = el("ol", {});
    /* A bundle of one file has its packs here, too: they stay. */
    document.body.append(
      el("a", { class: "skip", href: "#main", click: (event) => {
        event.preventDefault();
        main.focus();
      } }, "to the content"),
      el("header", { class: "top" },
        el("a", { class: "name", href: "#/" }, "Navloom"),
        el("nav", { "aria-label": "where you are" }, crumbs),
        el("button", { type: "button", class: "keys", click: () => Navloom.keys.help() }, "keys ", el("kbd", {}, "?"))),
      el("div", { id: "told", role: "status", "aria-live": "polite" }), main);
    return { main, crumbs };
  }

  /* Which pages an address may name; others are parts of these. */
  const PAGES = new Set(["source", "compare", "chat", "people"]);
  let place = null;
  let turn = 0;
  let before = "";

  /** Show what the address says; an answer that comes after the next address is dropped. */
  Navloom.show = async function () {
    const mine = ++turn;
    const { parts, query } = Navloom.here();
    const same = parts.join("/") === before;
    before = parts.join("/");
    Navloom.keys.page({});
    Navloom.grown = null;
    const name = Navloom.rating() ? "people" : parts[0];
    const page = (PAGES.has(name) && Navloom.pages[name]) || Navloom.pages.list;
    let made;
    const slow = setTimeout(() => Navloom.tell("loading …"), 400);
    try {
      made = await page(parts, query);
    } catch (error) {
      made = { title: "Not here", crumbs: [], nodes: [Navloom.broken(error)] };
    }
    clearTimeout(slow);
    if (mine !== turn) return;
    document.title = made.title + " – Navloom";
    fill(place.crumbs, (made.crumbs || []).map(([words, address]) => el("li", {},
      address ? el("a", { href: address }, words) : el("span", { "aria-current": "page" }, words))));
    const heading = el("h1", { tabindex: -1 }, made.title);
    fill(place.main, heading, made.lead ? el("p", { class: "lead" }, made.lead) : null, made.nodes);
    Navloom.keys.page(made.keys || {}, made.keyWords);
    Navloom.grown = made.grown || null;
    fill(document.getElementById("told"));
    if (!same) window.scrollTo(0, 0);
    /* What had the focus is gone with the page before. */
    if (!same || document.activeElement === document.body) heading.focus({ preventScroll: true });
  };

  /* What grows: one stream a tab, while it is looked at. */

  let stream = null;

  async function follow() {
    if (Navloom.offline || Navloom.rating() || document.hidden || stream) return;
    stream = new AbortController();
    try {
      const answer = await Navloom.ask("live", { signal: stream.signal });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let left = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        left += value;
        const events = left.split("\n\n");
        left = events.pop();
        for (const event of events) heard(event);
      }
    } catch {
      /* The tab was hidden, or the server ended: the next look begins anew. */
    }
    stream = null;
    if (!document.hidden) setTimeout(follow, 3000);
  }

  function heard(event) {
    if (!event.startsWith("data: ")) return;
    const { source } = JSON.parse(event.slice(6));
    Navloom.forget("source/" + source);
    Navloom.forget("list");
    if (Navloom.grown) Navloom.grown(source);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden && stream) stream.abort();
    else follow();
  });

  function start() {
    Navloom.token();
    place = frame();
    window.addEventListener("hashchange", () => {
      Navloom.token();
      Navloom.show();
    });
    Navloom.show();
    follow();
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
