/* A table of many rows of which the page holds what is seen: filter, facets, sort, columns. */
"use strict";

(function () {
  const { el, fill } = Navloom;
  const ROOM = 30;
  const MOST_FACET = 12;
  /* On a narrow page the rows come first: facets are unfolded by who wants them. */
  const wide = window.matchMedia("(min-width: 56rem)");

  /**
   * rows: [{id, cells, mark}], columns: [{name, form, facet, shown, help}].
   * state: {filter, sort, columns}: words, as they stand in the address.
   * told(changes): the state changed; open(row): a row was chosen; ticks: a Set of ids, or null.
   */
  Navloom.table = function ({ columns, rows, state, told, open, address, ticks, ticked, label }) {
    const view = { rows: [], current: -1, wrong: "", height: 34 };
    const body = el("tbody");
    const head = el("thead");
    const table = el("table", { class: "many" }, head, body);
    const box = el("div", { class: "rows", tabindex: 0, role: "region", "aria-label": label }, table);
    const count = el("p", { class: "count", "aria-live": "polite" });
    const facets = el("div", { class: "facets" });
    const input = el("input", {
      type: "search", class: "filter", id: "filter", value: state.filter || "", spellcheck: "false",
      autocomplete: "off", placeholder: "filter: words, SPL<0.5, cause:region, -status:ok",
      "aria-label": "filter", "aria-describedby": "filter-wrong",
    });
    const wrong = el("p", { id: "filter-wrong", class: "bad", role: "status" });
    const choose = chooser();
    const save = el("span", { class: "save" },
      el("button", { type: "button", click: () => saved("csv") }, "CSV"),
      el("button", { type: "button", click: () => saved("ids") }, "ids"));
    const bar = el("div", { class: "bar" }, input, choose, save);
    const node = el("div", { class: "table" }, bar, wrong, count,
      el("div", { class: "split" }, facets, box));

    input.addEventListener("input", () => change({ filter: input.value }));
    box.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
    new ResizeObserver(() => draw()).observe(box);
    box.addEventListener("focus", () => view.current < 0 && view.rows.length && point(0));
    box.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
      if (event.target !== box || event.ctrlKey || event.metaKey) return;
      if (steps) step(steps);
      else if (event.key === "Home") point(0);
      else if (event.key === "End") point(view.rows.length - 1);
      else if (event.key === "Enter") enter();
      else if (event.key === " " && ticks) tick(view.rows[view.current]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });

    function change(changes) {
      Object.assign(state, changes);
      if (!("columns" in changes)) box.scrollTop = 0;
      if ("filter" in changes && input.value !== changes.filter) input.value = changes.filter;
      told(changes);
      update();
    }

    function seen() {
      const wanted = (state.columns || "").split(",").filter(Boolean);
      const chosen = columns.map((column, at) => ({ ...column, at }));
      if (!wanted.length) return chosen.filter((column) => column.shown !== false);
      return chosen.filter((column) => wanted.includes(column.name));
    }

    function update() {
      const made = Navloom.filter(state.filter || "", columns);
      view.wrong = made.wrong || "";
      fill(wrong, view.wrong);
      if (!made.wrong) view.rows = rows.filter(made.keeps);
      const down = (state.sort || "").startsWith("-");
      const by = columns.findIndex((column) => column.name === (state.sort || "").replace(/^-/, ""));
      if (by >= 0) view.rows = sorted(view.rows, by, down);
      const all = Navloom.said(rows.length, "count");
      const some = Navloom.said(view.rows.length, "count");
      fill(count, view.rows.length === rows.length ? all + " rows" : some + " of " + all + " rows");
      view.current = Math.min(view.current, view.rows.length - 1);
      drawHead();
      draw();
      /* Counting all rows by all values can wait until nobody types. */
      clearTimeout(view.later);
      if (facets.dataset.drawn) view.later = setTimeout(drawFacets, 120);
      else drawFacets();
    }

    function drawHead() {
      const cells = seen().map((column) => {
        const on = (state.sort || "").replace(/^-/, "") === column.name;
        const down = on && state.sort.startsWith("-");
        const next = !on ? "-" + column.name : down ? column.name : "";
        const first = column.form === "text" && !on ? column.name : next;
        return el("th", {
          scope: "col", "aria-sort": on ? (down ? "descending" : "ascending") : null,
          class: column.form === "text" || column.form === "tags" ? "words" : null,
        }, el("button", { type: "button", title: column.help || null,
          click: () => change({ sort: first }) }, column.name, on ? (down ? " ↓" : " ↑") : ""));
      });
      if (ticks) cells.unshift(el("th", { scope: "col" }, el("span", { class: "hidden" }, "chosen")));
      fill(head, el("tr", {}, cells));
      table.setAttribute("aria-rowcount", view.rows.length + 1);
    }

    function draw() {
      const top = Math.floor(box.scrollTop / view.height);
      const high = Math.ceil((box.clientHeight || 600) / view.height);
      const first = Math.max(0, Math.min(top - ROOM, view.rows.length - 1));
      const last = Math.min(view.rows.length, top + Math.min(high, 120) + ROOM);
      const shown = seen();
      const wide = shown.length + (ticks ? 1 : 0);
      const drawn = view.rows.slice(first, last).map((row, i) => line(row, first + i, shown));
      fill(body, spacer(first, wide), drawn, spacer(view.rows.length - last, wide));
      const one = drawn[0] && drawn[0].offsetHeight;
      if (one && Math.abs(one - view.height) > 0.5) {
        view.height = one;
        draw();
      }
    }

    function spacer(many, wide) {
      if (many <= 0) return null;
      const cell = el("td", { colspan: wide });
      cell.style.height = many * view.height + "px";
      return el("tr", { class: "space", "aria-hidden": "true" }, cell);
    }

    function line(row, at, shown) {
      const cells = shown.map((column, i) => {
        const said = Navloom.said(row.cells[column.at], column.form);
        const words = column.form === "text" || column.form === "tags";
        const inside = i === 0 && address
          ? el("a", { href: address(row), tabindex: -1 }, said)
          : said;
        const tone = column.name === "status" ? " status-" + said.replace(/\W/g, "") : "";
        return el(i === 0 ? "th" : "td", {
          class: (words ? "words" : "") + tone || null, scope: i === 0 ? "row" : null,
          title: words && said.length > 24 ? said : null,
        }, inside);
      });
      if (ticks) {
        cells.unshift(el("td", {}, el("input", {
          type: "checkbox", checked: ticks.has(row.id), "aria-label": "compare " + row.id,
          tabindex: -1, change: () => tick(row), click: (event) => event.stopPropagation(),
        })));
      }
      return el("tr", {
        class: (at === view.current ? "current" : "") || null, "aria-rowindex": at + 2,
        "aria-selected": at === view.current ? "true" : null,
        click: (event) => {
          if (event.target.closest("a, input")) return;
          point(at);
          enter();
        },
      }, cells);
    }

    function tick(row) {
      if (!row) return;
      if (!ticks.delete(row.id)) ticks.add(row.id);
      ticked(ticks);
      draw();
    }

    function point(at) {
      if (!view.rows.length) return;
      view.current = Math.max(0, Math.min(at, view.rows.length - 1));
      const top = view.current * view.height;
      const room = head.offsetHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      const under = top + view.height + room - box.clientHeight;
      if (under > box.scrollTop) box.scrollTop = under;
      draw();
    }

    function step(by) {
      point(view.current < 0 ? 0 : view.current + by);
    }

    function enter() {
      if (view.rows[view.current]) open(view.rows[view.current]);
    }

    function drawFacets() {
      const held = facets.contains(document.activeElement) && document.activeElement.dataset.term;
      const open = new Set([...facets.querySelectorAll("details[open]")].map((d) => d.dataset.name));
      const found = columns.map((column, at) => ({ ...column, at })).filter((each) => each.facet);
      fill(facets, found.map((column) => {
        const counts = new Map();
        for (const row of view.rows) {
          for (const value of [row.cells[column.at]].flat()) {
            if (value !== null && value !== undefined && value !== "") {
              counts.set(value, (counts.get(value) || 0) + 1);
            }
          }
        }
        const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_FACET);
        if (!most.length) return null;
        const items = most.map(([value, many]) => {
          const term = Navloom.term(column.name, value);
          const on = Navloom.holdsTerm(state.filter || "", term);
          return el("li", {}, el("button", {
            type: "button", "data-term": term, "aria-pressed": on ? "true" : "false",
            click: () => change({ filter: Navloom.toggled(state.filter || "", term) }),
          }, el("span", { class: "value" }, Navloom.said(value)), el("b", {}, Navloom.said(many))));
        });
        const more = counts.size > most.length ? el("li", {}, counts.size - most.length + " more") : null;
        const unfolded = facets.dataset.drawn ? open.has(column.name) : wide.matches;
        return el("details", { open: unfolded, "data-name": column.name },
          el("summary", {}, column.name), el("ul", {}, items, more));
      }));
      facets.dataset.drawn = "yes";
      const again = held && [...facets.querySelectorAll("button")].find((each) => each.dataset.term === held);
      if (again) again.focus();
    }

    function chooser() {
      const list = el("div", { class: "columns" });
      const lid = el("details", { class: "chooser" }, el("summary", {}, "columns"), list);
      lid.addEventListener("toggle", () => {
        if (!lid.open) return;
        const on = new Set(seen().map((column) => column.name));
        fill(list, columns.map((column) => el("label", { title: column.help || null },
          el("input", { type: "checkbox", checked: on.has(column.name), change: (event) => {
            if (event.target.checked) on.add(column.name);
            else on.delete(column.name);
            const kept = columns.filter((each) => on.has(each.name)).map((each) => each.name);
            change({ columns: kept.join(",") });
          } }), column.name)));
      });
      return lid;
    }

    function saved(form) {
      const shown = seen();
      const cell = (value) => {
        const said = Array.isArray(value) ? value.join(" ") : value === null || value === undefined ? "" : String(value);
        // A sheet takes what begins with one of these for a formula.
        const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(said) ? "'" + said : said;
        return /[",\n\r]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
      };
      const lines = form === "ids"
        ? view.rows.map((row) => row.id)
        : [shown.map((column) => cell(column.name)).join(","),
          ...view.rows.map((row) => shown.map((column) => cell(row.cells[column.at])).join(","))];
      const url = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/plain" }));
      const link = el("a", { href: url, download: form === "ids" ? "ids.txt" : "samples.csv" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    }

    update();
    Navloom.warm(rows, columns);
    return {
      node, step, enter, change,
      focus: () => input.focus(),
      rows: () => view.rows,
      replace: (given) => {
        rows = given;
        update();
      },
    };
  };

  const text = new Intl.Collator("en", { numeric: true });

  function sorted(rows, by, down) {
    const known = (row) => {
      const value = row.cells[by];
      return Array.isArray(value) ? value.join(" ") : typeof value === "boolean" ? Number(value) : value;
    };
    const order = (a, b) => {
      if (typeof a === "number" && typeof b === "number") return a - b;
      return typeof a === "number" ? -1 : typeof b === "number" ? 1 : text.compare(a, b);
    };
    const [have, lack] = [[], []];
    for (const row of rows) {
      const value = known(row);
      (value === null || value === undefined || value === "" ? lack : have).push([value, row]);
    }
    have.sort((a, b) => (down ? -1 : 1) * order(a[0], b[0]));
    return [...have, ...lack].map((pair) => pair[1]);
  }

  Navloom.sorted = sorted;
})();
