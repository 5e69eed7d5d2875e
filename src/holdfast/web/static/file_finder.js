// Shows matching files while the user types; without this script the form has to be submitted.
"use strict";
(() => {
  const field = document.getElementById("finder");
  const results = document.getElementById("finder-results");
  if (!field || !results) return;
  let waiting = 0;
  const find = async (text) => {
    const address = `${location.pathname}?${new URLSearchParams({ q: text })}`;
    try {
      const answer = await fetch(address);
      if (!answer.ok || field.value !== text) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("finder-results");
      if (found) results.replaceChildren(...found.childNodes);
      history.replaceState(null, "", address);
    } catch {
      // The form still works.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 120, field.value);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    results.querySelector("a")?.focus();
  });
})();
