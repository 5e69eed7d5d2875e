// Shows matching files while the user types; without this script the form has to be submitted.
"use strict";
(() => {
  const field = document.getElementById("finder");
  const results = document.getElementById("finder-results");
  if (!field || !results) return;
  let timer = 0;
  const find = async (text) => {
    const address = `${location.pathname}?${new URLSearchParams({ q: text })}`;
    try {
      const response = await fetch(address);
      if (!response.ok || field.value !== text) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const matches = page.getElementById("finder-results");
      if (matches) results.replaceChildren(...matches.childNodes);
      history.replaceState(null, "", address);
    } catch {
      // The form still works.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, 120, field.value);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    results.querySelector("a")?.focus();
  });
})();
