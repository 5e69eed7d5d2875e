// Suggests issues while the user types; without this script the form has to be submitted.
"use strict";
const field = document.getElementById("wanted");
if (field) {
  const found = document.getElementById("wanted-found");
  let waiting = 0;
  const suggest = async (text) => {
    const query = new URLSearchParams({ q: text, limit: "8", priority_repo_id: field.dataset.repository });
    try {
      const answer = await fetch(`/api/v1/repos/issues/search?${query}`);
      if (!answer.ok || field.value.trim() !== text) return;
      const options = (await answer.json()).map((issue) => {
        const option = document.createElement("option");
        option.value = `${issue.repository.full_name}#${issue.number}`;
        option.label = issue.title;
        return option;
      });
      found.replaceChildren(...options);
    } catch {
      // The form works without suggestions.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    const text = field.value.trim();
    if (text.length > 1) waiting = setTimeout(suggest, 150, text);
  });
}
