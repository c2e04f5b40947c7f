/* A run, a dataset or a home: its rows, and its tabs of scores, cost and request. */
"use strict";

(function () {
  const { el, fill } = Navloom;

  Navloom.pages.source = async function (parts, query) {
    const [, n, part, name] = parts;
    if (part === "sample" && name !== undefined) return Navloom.pages.item(n, name, query);
    const head = await Navloom.doc("source/" + n, true);
    const tabs = [...(head.columns.length ? [["samples", capital(head.things || "samples")]] : []), ...(head.tabs || [])];
    const chosen = tabs.some(([id]) => id === part) ? part : tabs[0][0];
    const place = el("div", { role: "tabpanel" });
    const counts = el("p", { class: "lead" }, leadOf(head));
    const notes = (head.notes || []).map((line) => el("p", { class: "bad", role: "alert" }, "✕ ", line));
    const page = {
      title: head.name,
      crumbs: [["all", "#/?all=1"], [head.name, null]],
      keys: { Escape: () => Navloom.go("#/?all=1") },
      nodes: [counts, notes, bar(n, tabs, chosen), place],
    };
    if (chosen === "samples") await samples(n, head, query, place, page);
    else {
      const context = Navloom.context(n, query);
      fill(place, Navloom.blocksOf(await Navloom.doc("source/" + n + "/tab/" + chosen, true), context));
      page.grown = (which) => String(which) === n && Navloom.show();
    }
    return page;
  };

  function capital(word) {
    return word.charAt(0).toUpperCase() + word.slice(1);
  }

  function leadOf(head) {
    const cells = head.cells;
    const said = [cells.kind, cells.task, cells.agent, (cells.models || []).join(", "), cells.state,
      cells.ended !== undefined && cells.ended !== null ? Navloom.plural(cells.ended, "ended").replace(/s$/, "") : "",
      cells.errors ? Navloom.plural(cells.errors, "error") : "", cells.score, cells.date];
    return said.filter(Boolean).join(" · ");
  }

  function bar(n, tabs, chosen) {
    return el("div", { role: "tablist" }, tabs.map(([id, words]) => el("a", {
      role: "tab", href: Navloom.address(["source", n, id]), "aria-selected": String(id === chosen),
    }, words)));
  }

  async function samples(n, head, query, place, page) {
    const { rows } = await Navloom.allRows(n);
    const state = { filter: query.filter || "", sort: query.sort || "", columns: query.columns || "" };
    const open = (row) => Navloom.address(["source", n, "sample", row.id], { filter: state.filter, sort: state.sort });
    const table = Navloom.table({
      columns: head.columns, rows, state,
      told: (changes) => Navloom.note(changes, true),
      open: (row) => Navloom.go(open(row)), address: open, ticks: null, label: head.things || "samples",
    });
    fill(place, table.node);
    Object.assign(page.keys, {
      j: () => table.step(1), k: () => table.step(-1), Enter: () => table.enter(), "/": () => table.focus(),
    });
    page.grown = async (which) => {
      if (String(which) !== n) return;
      const now = await Navloom.allRows(n);
      table.replace(now.rows);
      fill(page.nodes[0], leadOf(now.head));
    };
  }

  /** What blocks are given: where they lead, and how to have a plan. */
  Navloom.context = function (n, query, more) {
    return {
      query: query || {},
      address: (to) => Navloom.within(n, to),
      go: (to) => Navloom.go(Navloom.within(n, to)),
      plan: (key) => Navloom.doc("plan/" + key),
      ...(more || {}),
    };
  };
})();
