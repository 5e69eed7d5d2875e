// Suggests issues while the user types; without this script the form has to be submitted.
"use strict";
const field = document.getElementById("wanted");
if (field) {
  const datalist = document.getElementById("wanted-found");
  let timer = 0;
  const suggest = async (text) => {
    const query = new URLSearchParams({ q: text, limit: "8", priority_repo_id: field.dataset.repository });
    try {
      const response = await fetch(`/api/v1/repos/issues/search?${query}`);
      if (!response.ok || field.value.trim() !== text) return;
      const options = (await response.json()).map((issue) => {
        const option = document.createElement("option");
        option.value = `${issue.repository.full_name}#${issue.number}`;
        option.label = issue.title;
        return option;
      });
      datalist.replaceChildren(...options);
    } catch {
      // The form works without suggestions.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const text = field.value.trim();
    if (text.length > 1) timer = setTimeout(suggest, 150, text);
  });
}
