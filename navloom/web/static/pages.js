/* The list of what is open: runs, datasets, homes; tick two to hold them against each other. */
"use strict";

(function () {
  const { el, fill } = Navloom;

  Navloom.rowsOf = function (pairs) {
    return pairs.map(([id, cells]) => ({ id, cells }));
  };

  Navloom.pages.list = async function (parts, query) {
    if (Navloom.offline.first && !parts.length && !("all" in query)) {
      location.replace(Navloom.offline.first);
      return { title: "Navloom", nodes: [] };
    }
    const told = await Navloom.doc("list", true);
    if (told.rows.length === 1 && !parts.length && !("all" in query)) {
      location.replace(Navloom.address(["source", 0]));
      return { title: "Navloom", nodes: [] };
    }
    const of = new Map(told.rows.map((row) => [row.id, row]));
    const ticks = new Set((query.ticks || "").split(",").filter((id) => of.has(id)));
    const compare = el("p", { class: "actions" });
    function ticked() {
      const two = [...ticks];
      Navloom.note({ ticks: two.join(",") }, true);
      const [a, b] = two.map((id) => of.get(id));
      const fits = two.length === 2 && a.pairs && a.pairs === b.pairs;
      fill(compare, fits
        ? el("a", { href: Navloom.address(["compare", ...two.sort((x, y) => x - y)]) }, "compare the two that are ticked")
        : el("span", { class: "quiet" }, two.length < 2
          ? "Tick two runs of one kind to compare them."
          : two.length === 2 ? "These two are of kinds that are not compared." : "Tick two, not " + two.length + "."));
    }
    const table = Navloom.table({
      columns: told.columns,
      rows: told.rows.map((row) => ({ id: row.id, cells: row.cells })),
      state: { ...query },
      told: (changes) => Navloom.note(changes, true),
      open: (row) => Navloom.go(Navloom.address(["source", row.id])),
      address: (row) => Navloom.address(["source", row.id]),
      ticks, ticked, label: "runs, datasets and homes",
    });
    table.node.querySelector(".rows").classList.add("short");
    ticked();
    return {
      title: told.rows.length === 1 ? "One source" : told.rows.length + " sources",
      lead: "Open a row to look at its samples.",
      nodes: [compare, table.node],
      keys: {
        j: () => table.step(1), k: () => table.step(-1), Enter: () => table.enter(), "/": () => table.focus(),
      },
      grown: async () => {
        const now = await Navloom.doc("list", true);
        table.replace(now.rows.map((row) => ({ id: row.id, cells: row.cells })));
      },
    };
  };

  /** All rows of a source, and how to have what was added. */
  Navloom.allRows = async function (n) {
    const head = await Navloom.doc("source/" + n);
    const many = Math.ceil(head.rows / head.chunk);
    const chunks = await Promise.all(
      Array.from({ length: many }, (_, k) => Navloom.doc("source/" + n + "/rows/" + k)));
    return { head, rows: Navloom.rowsOf(chunks.flat()) };
  };
})();
