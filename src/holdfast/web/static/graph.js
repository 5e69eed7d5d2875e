// Scrolls the issue of the page into view in its dependency graph.
"use strict";
const frame = document.querySelector(".graph");
const here = frame && frame.querySelector(".here rect");
if (here) {
  const box = here.getBoundingClientRect();
  const around = frame.getBoundingClientRect();
  frame.scrollLeft += box.left + box.width / 2 - around.left - around.width / 2;
  frame.scrollTop += box.top + box.height / 2 - around.top - around.height / 2;
}
