/* The filter's words: SPL<0.5 cause:region villa -"two words". */
"use strict";

(function () {
  const TERM = /(-?)(?:([\w$#%]+)\s*(<=|>=|!=|<|>|=|:)\s*)?(?:"([^"]*)"?|(\S+))/g;

  /** A filter's words as a test of a row, or what is wrong with it. */
  Navloom.filter = function (words, columns) {
    const named = new Map(columns.map((column, at) => [column.name.toLowerCase(), at]));
    const tests = [];
    for (const [, minus, name, sign, quoted, bare] of words.matchAll(TERM)) {
      const value = quoted !== undefined ? quoted : bare;
      if (!name) {
        const of = value.toLowerCase();
        tests.push([minus, (row) => textOf(row, columns).includes(of)]);
        continue;
      }
      const at = named.get(name.toLowerCase());
      if (at === undefined) {
        const near = [...named.keys()].find((each) => each.startsWith(name.toLowerCase()[0]));
        const hint = near ? " Such as " + columns[named.get(near)].name + "?" : "";
        return { wrong: "There is no column " + name + "." + hint };
      }
      const test = compared(sign, value, at, columns[at]);
      if (typeof test === "string") return { wrong: test };
      tests.push([minus, test]);
    }
    return { keeps: (row) => tests.every(([minus, test]) => test(row) !== (minus === "-")) };
  };

  function compared(sign, value, at, column) {
    const lower = value.toLowerCase();
    const texts = (cell) => (Array.isArray(cell) ? cell : [cell]).map((each) => saidPlainly(each));
    if (sign === ":") {
      const fits = column.facet ? (each) => each === lower : (each) => each.includes(lower);
      return (row) => texts(row.cells[at]).some(fits);
    }
    const number = Number(value.replace(/%$/, "")) / (value.endsWith("%") ? 100 : 1);
    if (sign === "=" || sign === "!=") {
      const is = (cell) =>
        typeof cell === "number" && !Number.isNaN(number)
          ? cell === number
          : texts(cell).includes(lower);
      return (row) => is(row.cells[at]) === (sign === "=");
    }
    if (Number.isNaN(number)) {
      return column.name + sign + value + ": after " + sign + " a number is expected.";
    }
    const holds = {
      "<": (cell) => cell < number,
      ">": (cell) => cell > number,
      "<=": (cell) => cell <= number,
      ">=": (cell) => cell >= number,
    }[sign];
    return (row) => typeof row.cells[at] === "number" && holds(row.cells[at]);
  }

  function saidPlainly(cell) {
    if (cell === true) return "yes";
    if (cell === false) return "no";
    return cell === null || cell === undefined ? "" : String(cell).toLowerCase();
  }

  function textOf(row, columns) {
    if (row.text === undefined) {
      row.text = columns
        .map((column, at) => (/text|tags/.test(column.form) ? row.cells[at] : ""))
        .flat()
        .join("\n")
        .toLowerCase();
    }
    return row.text;
  }

  /** Make rows ready to be sought in, while nobody waits. */
  Navloom.warm = function (rows, columns) {
    setTimeout(() => rows.forEach((row) => textOf(row, columns)), 300);
  };

  /** The filter's words with one term added, or taken out where it is there. */
  Navloom.toggled = function (words, term) {
    const terms = [...words.matchAll(TERM)].map((found) => found[0]);
    const left = terms.filter((each) => each !== term);
    return (left.length < terms.length ? left : [...terms, term]).join(" ");
  };

  Navloom.holdsTerm = function (words, term) {
    return [...words.matchAll(TERM)].some((found) => found[0] === term);
  };

  /** A term that a column has a value, as one types it. */
  Navloom.term = function (name, value) {
    const said = value === true ? "yes" : value === false ? "no" : String(value);
    return name + ":" + (/[\s"]/.test(said) || !said ? '"' + said.replace(/"/g, "") + '"' : said);
  };
})();
