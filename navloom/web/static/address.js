/* Where one is, in the address: #/source/0/samples?filter=SPL<0.5&sort=-SPL. */
"use strict";

(function () {
  /** The address as parts and parameters. */
  Navloom.here = function () {
    const said = location.hash.replace(/^#\/?/, "");
    const [path, query] = [said.split("?")[0], said.slice(said.split("?")[0].length + 1)];
    const parts = path.split("/").filter(Boolean).map(decoded);
    return { parts, query: Object.fromEntries(new URLSearchParams(query)) };
  };

  function decoded(part) {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  }

  /** An address of parts and parameters; parameters that are empty are left out. */
  Navloom.address = function (parts, query) {
    const told = Object.entries(query || {}).filter(([, value]) => value !== "" && value != null);
    const path = parts.map((each) => encodeURIComponent(each).replace(/%40/g, "@")).join("/");
    const more = new URLSearchParams(told).toString();
    return "#/" + path + (more ? "?" + more : "");
  };

  /** An address that a block gives ("sample/ID?step=3", "samples?filter=..."), within a source. */
  Navloom.within = function (source, to, keep) {
    /* Out of a report into one of its runs. */
    if (to.startsWith("#/")) return to;
    const [path, query] = [to.split("?")[0], to.slice(to.split("?")[0].length + 1)];
    const parts = path.split("/").filter(Boolean).map(decoded);
    return Navloom.address(["source", source, ...parts], {
      ...(keep || {}),
      ...Object.fromEntries(new URLSearchParams(query)),
    });
  };

  /** Change parameters of where one is; the page is told only where it did not do so itself. */
  Navloom.note = function (changes, quiet) {
    const { parts, query } = Navloom.here();
    const address = Navloom.address(parts, { ...query, ...changes });
    if (address === location.hash) return;
    history.replaceState(null, "", address);
    if (!quiet) Navloom.show();
  };

  Navloom.go = function (address) {
    if (location.hash === address) Navloom.show();
    else location.hash = address;
  };
})();
