"use strict";
// Results of a search are summed up from their pages, which a browser does not read from a disk.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// What a screen reader is told of parts of the theme, and keys that scroll what is wide.
addEventListener("DOMContentLoaded", () => {
  const all = (what, then) => document.querySelectorAll(what).forEach(then);
  all("p.caption[role=heading]", (caption) => { caption.ariaLevel = 2; });
  all(".sidebar-drawer", (side) => { side.ariaLabel = "All pages"; });
  all(".toc-drawer", (side) => { side.ariaLabel = "This page"; });
  all("dt dl", (signature) => { signature.role = "presentation"; });
  all("pre, .table-wrapper", (wide) => {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  });
});
