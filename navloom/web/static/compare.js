/* Two runs held against each other, and one pair of their samples. */
"use strict";

(function () {
  Navloom.pages.compare = async function (parts, query) {
    const [, a, b, name] = parts;
    const [first, second] = await Promise.all([Navloom.doc("source/" + a), Navloom.doc("source/" + b)]);
    const names = first.name + " and " + second.name;
    const context = {
      ...Navloom.context(a, query),
      address: (to) => {
        const [path, more] = [to.split("?")[0], to.slice(to.split("?")[0].length + 1)];
        const found = path.split("/").filter(Boolean).map(decodeURIComponent);
        const query = Object.fromEntries(new URLSearchParams(more));
        if (found[0] === "a" || found[0] === "b") {
          return Navloom.address(["source", found[0] === "a" ? a : b, ...found.slice(1)], query);
        }
        return Navloom.address(["compare", a, b, ...found.filter((part) => part !== "pair" && part !== "sample")], query);
      },
      step: (step) => Navloom.note({ step: step ? step + 1 : "" }, true),
    };
    let player = null;
    context.player = (made) => {
      player = player || made;
    };
    const base = "compare/" + a + "/" + b;
    const keys = {
      Escape: () => Navloom.go(name === undefined ? "#/?all=1" : Navloom.address(["compare", a, b])),
      ArrowLeft: () => player && player.previous(), ArrowRight: () => player && player.next(),
      " ": () => player && player.toggle(),
    };
    if (name === undefined) {
      const blocks = await Navloom.doc(base, true);
      return {
        title: names, lead: "A is " + first.name + ", B is " + second.name + ".",
        crumbs: [["all", "#/?all=1"], [names, null]], nodes: Navloom.blocksOf(blocks, context), keys,
      };
    }
    const told = await Navloom.doc(base + "/" + name);
    return {
      title: told.title || name, lead: told.headline || null,
      crumbs: [["all", "#/?all=1"], [names, Navloom.address(["compare", a, b])], [name, null]],
      nodes: Navloom.blocksOf(told.blocks, context), keys,
    };
  };
})();
