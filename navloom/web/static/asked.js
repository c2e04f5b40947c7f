/* The questions of a form: scales with named ends, choices, places on a plan, words. */
"use strict";

(function () {
  const { el, fill } = Navloom;

  /** An id as a person reads it: Living_room_5 is Living room 5. */
  const readable = (name) => name.replace(/^unknown_/i, "room_").replaceAll("_", " ");

  function radios(question, options, said, changed) {
    const boxes = options.map(([value, words]) => {
      const input = el("input", { type: "radio", name: "q-" + question.name, value: String(value), checked: value === said, change: changed });
      return { input, value, node: el("label", {}, input, " ", el("span", {}, words)) };
    });
    return {
      boxes,
      value: () => (boxes.find((each) => each.input.checked) || {}).value,
      press: (place) => {
        if (!boxes[place]) return false;
        boxes[place].input.checked = true;
        changed();
        return true;
      },
      focus: () => boxes[0].input.focus(),
    };
  }

  const kinds = {};

  kinds.scale = function (question, said, changed) {
    const steps = Array.from({ length: question.high - question.low + 1 }, (_, k) => question.low + k);
    const made = radios(question, steps.map((step) => [step, String(step)]), said, changed);
    const [least, most] = question.ends;
    made.boxes[0].input.setAttribute("aria-label", question.low + ": " + least);
    made.boxes[steps.length - 1].input.setAttribute("aria-label", question.high + ": " + most);
    return { ...made, node: el("div", { class: "scale" }, el("span", { class: "end" }, least), made.boxes.map((each) => each.node), el("span", { class: "end" }, most)) };
  };

  kinds.choice = function (question, said, changed) {
    const made = radios(question, question.options.map((each) => [each.name, each.text]), said, changed);
    return { ...made, node: el("div", { class: "choices" }, made.boxes.map((each) => each.node)) };
  };

  kinds.text = function (question, said, changed) {
    const area = el("textarea", { rows: 3, maxlength: question.most, "aria-label": question.text, input: changed }, said || "");
    return { node: area, value: () => area.value.trim() || undefined, press: () => false, focus: () => area.focus() };
  };

  kinds.place = function (question, said, changed, item) {
    const places = item.places || {};
    const option = (name) => el("option", { value: name }, readable(name));
    const byName = (a, b) => readable(a).localeCompare(readable(b), "en", { numeric: true });
    const none = (words) => el("option", { value: "" }, words);
    const room = el("select", { change: () => choose(room.value) }, none("choose a room"), Object.keys(places).sort(byName).map(option));
    const thing = el("select", { change: changed });
    function choose(name, asset) {
      room.value = name in places ? name : "";
      fill(thing, none(room.value ? "choose a thing in it" : "choose a room first"), (places[room.value] || []).map(option));
      thing.value = (places[room.value] || []).includes(asset) ? asset : "";
      thing.disabled = !room.value;
      changed();
    }
    choose(said ? said.region : "", said ? said.asset : "");
    return {
      node: el("div", { class: "place" }, el("label", {}, "room ", room), question.asset ? el("label", {}, " thing ", thing) : null),
      value: () => {
        if (!room.value || (question.asset && !thing.value)) return undefined;
        return question.asset ? { region: room.value, asset: thing.value } : { region: room.value };
      },
      press: () => false,
      focus: () => (room.value && question.asset ? thing : room).focus(),
      room: () => room.value,
      thing: () => thing.value,
      things: (name) => places[name] || [],
      choose: (name, asset) => name in places && (choose(name, asset), true),
    };
  };

  /**
   * The questions of a form about an item.
   * Gives node, answers(), missing() (the first question without its answer; all are marked), press(digit) and
   * picks(where), which lets a click on a plan in a node name a room.
   */
  Navloom.asked = function (questions, item, said, told) {
    let ready = false;
    const changed = () => {
      if (!ready) return;
      for (const field of fields) if (!lacks(field)) field.node.classList.remove("lacking");
      told();
    };
    const fields = questions.map((question) => {
      const made = kinds[question.kind](question, said[question.name], changed, item);
      const node = el("fieldset", { "data-question": question.name },
        el("legend", {}, question.text, question.optional ? el("span", { class: "quiet" }, " (may be left out)") : null),
        question.help ? el("p", { class: "note" }, question.help) : null, made.node);
      return { ...made, question, node };
    });
    ready = true;
    const lacks = (field) => field.value() === undefined;
    const here = () => fields.find((field) => field.node.contains(document.activeElement) && field.boxes)
      || fields.find((field) => field.boxes && lacks(field));
    return {
      node: el("div", { class: "asked" }, fields.map((field) => field.node)),
      answers: () => Object.fromEntries(fields.filter((field) => !lacks(field)).map((field) => [field.question.name, field.value()])),
      missing: () => {
        const found = fields.filter((field) => !field.question.optional && lacks(field));
        for (const field of found) field.node.classList.add("lacking");
        return found[0];
      },
      press: (digit) => {
        const field = here();
        if (!field) return;
        const at = field.question.kind === "scale" ? digit - field.question.low : digit - 1;
        if (field.press(at) && field.node.contains(document.activeElement)) {
          const next = fields[fields.indexOf(field) + 1];
          if (next) next.focus();
        }
      },
      picks: (where) => {
        const field = fields.find((each) => each.room);
        if (field) picked(where, field);
      },
    };
  };

  /** A click on a room or a thing of a plan names it; what is named is drawn so. */
  function picked(where, field) {
    const layer = (name) => [...where.querySelectorAll(`svg.plan g[data-layer="${name}"] [data-id]`)];
    const named = (node) => readable((node.querySelector("title") || {}).textContent || "").toLowerCase();
    const called = (node, asset) => asset && named(node) === readable(asset).toLowerCase();
    function within(node, rooms) {
      const box = node.getBBox();
      const middle = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
      return rooms.some((room) => room.ownerSVGElement === node.ownerSVGElement && room.isPointInFill(middle));
    }
    function mark() {
      const chosen = layer("rooms").filter((room) => room.dataset.id === field.room());
      for (const room of layer("rooms")) room.classList.toggle("picked", chosen.includes(room));
      for (const node of layer("things")) node.classList.toggle("picked-thing", called(node, field.thing()) && within(node, chosen));
    }
    let down = null;
    where.addEventListener("pointerdown", (event) => {
      down = [event.clientX, event.clientY];
    });
    where.addEventListener("click", (event) => {
      if (!event.target.closest("svg.plan") || (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 6)) return;
      const under = document.elementsFromPoint(event.clientX, event.clientY).map((each) => each.closest("[data-id]")).filter(Boolean);
      const hit = under.find((each) => each.closest('g[data-layer="rooms"]'));
      if (!hit) return;
      const thing = under.find((each) => each.closest('g[data-layer="things"]'));
      if (field.choose(hit.dataset.id, thing && field.things(hit.dataset.id).find((asset) => called(thing, asset)))) mark();
      else Navloom.tell("Nothing can be put down in " + readable(hit.dataset.id) + ": choose another room.");
    });
    where.classList.add("picks");
    field.node.addEventListener("change", mark);
    /* Plans are drawn when they have come. */
    new MutationObserver(mark).observe(where, { childList: true, subtree: true });
  }
})();
