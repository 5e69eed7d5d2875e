// Drag and drop of the cards of a board; submits the form of the card, which also works without this script.
"use strict";
(() => {
  const columns = document.querySelectorAll("[data-column]");
  let dragged = null;
  for (const card of document.querySelectorAll(".board-card")) {
    const form = card.querySelector(".move-card form");
    if (!form) continue;
    card.draggable = true;
    // Links and images are draggable by default.
    for (const inside of card.querySelectorAll("a, img")) inside.draggable = false;
    card.addEventListener("dragstart", (event) => {
      dragged = { card, form };
      card.classList.add("dragged");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", `#${form.elements.index.value}`);
    });
    card.addEventListener("dragend", () => {
      dragged = null;
      card.classList.remove("dragged");
      for (const column of columns) column.classList.remove("target");
    });
  }
  const accepts = (column) => dragged && dragged.form.elements.source.value !== column.dataset.column;
  for (const column of columns) {
    column.addEventListener("dragover", (event) => {
      if (!accepts(column)) return;
      event.preventDefault();
      column.classList.add("target");
    });
    column.addEventListener("dragleave", (event) => {
      if (!column.contains(event.relatedTarget)) column.classList.remove("target");
    });
    column.addEventListener("drop", (event) => {
      if (!accepts(column)) return;
      event.preventDefault();
      dragged.form.elements.to.value = column.dataset.column;
      dragged.form.submit();
    });
  }
})();
