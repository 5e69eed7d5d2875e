// What pages can do more with JavaScript: jump to any date, and find a chat by its name.
"use strict";

const holdfast = {};

(() => {
  const nav = document.querySelector("[data-jump]");
  if (nav) {
    const input = document.createElement("input");
    input.type = "date";
    input.title = "Jump to a date";
    input.setAttribute("aria-label", "Jump to a date");
    nav.prepend(input);

    let dates = null;
    let loading = false;
    let asked = false;
    let typed = false;
    const load = () => {
      if (loading) return;
      loading = true;
      const script = document.createElement("script");
      script.src = "dates.js";
      document.head.append(script);
    };
    const go = () => {
      if (!input.value) return;
      if (dates === null) {
        asked = true;
        load();
        return;
      }
      const found = dates.find(([day]) => day >= input.value) || dates[dates.length - 1];
      if (found) location.href = `${found[1]}.html#d${found[0]}`;
    };
    holdfast.dates = (found) => {
      dates = found;
      if (asked) go();
    };
    input.addEventListener("focus", load);
    // Typing a year goes through many dates: one that is picked is meant at once, one that is typed when it is done.
    input.addEventListener("pointerdown", () => { typed = false; });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") go();
      else if (event.key !== "Tab") typed = true;
    });
    let changed = false;
    input.addEventListener("change", () => {
      changed = true;
      if (!typed) go();
    });
    input.addEventListener("blur", () => { if (changed && typed) go(); });
    const day = /^#d\d/.test(location.hash) && document.getElementById(location.hash.slice(1));
    const shown = day ? day.querySelector("time") : document.querySelector(".log .day time");
    if (shown) input.defaultValue = shown.dateTime;
  }

  const filter = document.querySelector(".filter");
  if (filter) {
    filter.hidden = false;
    const rows = [...document.querySelectorAll(".chats li")];
    const names = rows.map((row) => row.querySelector("b").textContent.toLowerCase());
    filter.querySelector("input").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      rows.forEach((row, n) => { row.hidden = !names[n].includes(wanted); });
    });
  }
})();
