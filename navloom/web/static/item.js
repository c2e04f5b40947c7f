/* One sample: what was asked, how it went step by step, the calls it took. */
"use strict";

(function () {
  const { el, fill } = Navloom;

  /** The ids of the list that one came from, filtered and sorted as it was. */
  async function around(n, query) {
    const { head, rows } = await Navloom.allRows(n);
    const made = Navloom.filter(query.filter || "", head.columns);
    let found = made.wrong ? rows : rows.filter(made.keeps);
    const by = head.columns.findIndex((column) => column.name === (query.sort || "").replace(/^-/, ""));
    if (by >= 0) found = Navloom.sorted(found, by, query.sort.startsWith("-"));
    return { head, ids: found.map((row) => row.id) };
  }

  Navloom.pages.item = async function (n, name, query) {
    const [{ head, ids }, told] = await Promise.all([
      around(n, query), Navloom.doc("source/" + n + "/sample/" + name),
    ]);
    const at = ids.indexOf(name);
    const kept = { filter: query.filter, sort: query.sort };
    const list = Navloom.address(["source", n, "samples"], kept);
    const to = (by) => (ids[at + by] === undefined || at < 0 ? null : Navloom.address(["source", n, "sample", ids[at + by]], kept));
    let player = null;
    const context = Navloom.context(n, query, {
      /* From sample to sample the list stays what it was. */
      address: (to) => Navloom.within(n, to, to.startsWith("sample/") ? kept : {}),
      step: (step) => Navloom.note({ step: step ? step + 1 : "" }, true),
      player: (made) => {
        player = player || made;
      },
    });
    const link = (address, words, key) => (address
      ? el("a", { href: address }, words, " ", el("kbd", {}, key))
      : el("span", { class: "quiet" }, words));
    const where = at < 0 ? "not in this list" : at + 1 + " of " + Navloom.said(ids.length, "count");
    const go = (address) => address && Navloom.go(address);
    return {
      title: told.title || name,
      lead: told.headline || null,
      crumbs: [["all", "#/?all=1"], [head.name, list], [name, null]],
      nodes: [
        el("p", { class: "actions" }, link(to(-1), "previous", "["), el("span", { class: "quiet" }, where), link(to(1), "next", "]")),
        Navloom.blocksOf(told.blocks, context),
        calls(n, name, query, context),
      ],
      keys: {
        "[": () => go(to(-1)), "]": () => go(to(1)), k: () => go(to(-1)), j: () => go(to(1)),
        Escape: () => Navloom.go(list),
        ArrowLeft: () => player && player.previous(), ArrowRight: () => player && player.next(),
        " ": () => player && player.toggle(),
        "+": () => player && player.zoom(1), "-": () => player && player.zoom(-1),
        0: () => player && player.zoom(0),
      },
    };
  };

  /** Prompts, tools and replies, had when they are unfolded. */
  function calls(n, name, query, context) {
    const place = el("div", {});
    const lid = el("details", { class: "block calls", open: "calls" in query }, el("summary", {}, "Calls"), place);
    let had = false;
    async function load() {
      if (had || !lid.open) return;
      had = true;
      try {
        const blocks = await Navloom.doc("source/" + n + "/calls/" + name);
        fill(place, blocks.length ? Navloom.blocksOf(blocks, { ...context, level: 3 })
          : el("p", { class: "quiet" }, "No calls of this sample are kept: it was run with --no-calls, or by a version that kept none."));
      } catch (error) {
        had = false;
        fill(place, Navloom.broken(error));
      }
    }
    lid.addEventListener("toggle", () => {
      Navloom.note({ calls: lid.open ? "1" : "" }, true);
      load();
    });
    load();
    return lid;
  }
})();
