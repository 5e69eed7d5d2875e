// Behaviour of every page: menus that close, forms sent once, tabs scrolled into view, copy buttons and keyboard
// shortcuts.
"use strict";
(() => {
  // One menu is open at a time; Escape and a click outside close it.
  const openMenus = () => document.querySelectorAll("details.menu[open]");
  document.addEventListener("toggle", (event) => {
    const menu = event.target;
    if (!(menu instanceof HTMLDetailsElement) || !menu.open || !menu.classList.contains("menu")) return;
    for (const other of openMenus()) if (other !== menu && !other.contains(menu)) other.open = false;
  }, true);
  document.addEventListener("click", (event) => {
    for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of openMenus()) {
      const held = menu.contains(document.activeElement);
      menu.open = false;
      if (held) menu.querySelector("summary").focus();
    }
  });

  // A double click submits a form once. The response may be a download, after which the page is still here: the form
  // can be submitted again after some seconds, or when the user comes back to the page.
  const SUBMITTED_MS = 5000;
  const submitted = new Set();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
    if (submitted.has(form)) {
      event.preventDefault();
      return;
    }
    submitted.add(form);
    setTimeout(() => submitted.delete(form), SUBMITTED_MS);
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) submitted.clear(); });

  // The URL of a comment in the API has no page of the timeline: ask for the page that has the comment.
  const comment = /^#issuecomment-(\d+)$/.exec(location.hash);
  const isIssue = /\/(issues|pulls)\/\d+$/.test(location.pathname);
  if (comment && isIssue && !location.search && !document.getElementById(comment[0].slice(1))) {
    location.replace(`?comment=${comment[1]}`);
  }

  // On a narrow screen the current tab may be scrolled out of view.
  const showTabs = () => {
    for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
      const row = tab.closest(".tabs");
      const box = tab.getBoundingClientRect();
      const around = row.getBoundingClientRect();
      if (box.left < around.left || box.right > around.right) {
        row.scrollLeft += box.left + box.width / 2 - around.left - around.width / 2;
      }
    }
  };
  showTabs();
  window.addEventListener("resize", showTabs);

  // Copy buttons: those in the page, and one for every code block of a text and every block of commands.
  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // The Clipboard API requires HTTPS.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  };
  const prepare = (button, text) => {
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener("click", async (event) => {
      event.preventDefault();
      try {
        await copy(text());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  };
  for (const button of document.querySelectorAll("button[data-copy]")) prepare(button, () => button.dataset.copy);
  for (const block of document.querySelectorAll(".prose pre, pre.commands")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "secondary small copy-code";
    button.textContent = "Copy";
    const around = document.createElement("div");
    around.className = "copied-block";
    block.replaceWith(around);
    around.append(block, button);
    prepare(button, () => block.textContent);
  }

  // Pages that show progress reload, but not while somebody uses a form of theirs.
  const progress = document.querySelector("[data-reload-after]");
  const isChanged = (field) => {
    if (field instanceof HTMLSelectElement) {
      // Without a selected option in the page, the first one is.
      return field.selectedIndex !== Math.max([...field.options].findIndex((option) => option.defaultSelected), 0);
    }
    return ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  };
  const isUsed = (field) => isChanged(field) || field === document.activeElement;
  if (progress) setInterval(() => {
    if (![...document.querySelectorAll("main :is(input, textarea, select)")].some(isUsed)) location.reload();
  }, Number(progress.dataset.reloadAfter));

  // The scripts of formulas and diagrams are loaded only on pages that have some, if they were built.
  const { formulas, diagrams } = document.currentScript.dataset;
  if (formulas && document.querySelector(".prose :is(.math, code.language-math)")) import(formulas);
  if (diagrams && document.querySelector(".prose code.language-mermaid")) import(diagrams);

  // Keyboard shortcuts, which can be disabled in their help dialog.
  const KEY = "holdfast-shortcuts";
  const stored = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
  const root = document.body.dataset.repository;
  const SHORTCUTS = [
    ["?", "Show this help"],
    ["/", "Search"],
    ["j", "Next item of a list"],
    ["k", "Previous item of a list"],
    ["g h", "Go home"],
    ...(root ? [
      ["t", "Find a file"],
      ["g c", "Go to the code"],
      ["g i", "Go to the issues"],
      ["g p", "Go to the pull requests"],
      ["g r", "Go to the releases"],
    ] : []),
  ];
  const goTo = {
    h: "/",
    ...(root ? { c: root, i: `${root}/issues`, p: `${root}/pulls`, r: `${root}/releases` } : {}),
  };
  const help = () => {
    let sheet = document.getElementById("shortcuts");
    if (!sheet) {
      sheet = document.createElement("dialog");
      sheet.id = "shortcuts";
      sheet.setAttribute("aria-labelledby", "shortcuts-title");
      const title = document.createElement("h2");
      title.id = "shortcuts-title";
      title.textContent = "Keyboard shortcuts";
      const list = document.createElement("dl");
      for (const [keys, words] of SHORTCUTS) {
        const term = document.createElement("dt");
        for (const one of keys.split(" ")) {
          const key = document.createElement("kbd");
          key.textContent = one;
          term.append(key, " ");
        }
        const meaning = document.createElement("dd");
        meaning.textContent = words;
        list.append(term, meaning);
      }
      const choice = document.createElement("label");
      choice.className = "check";
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = stored() !== "off";
      box.addEventListener("change", () => {
        try { localStorage.setItem(KEY, box.checked ? "on" : "off"); } catch { /* Only this page then. */ }
      });
      choice.append(box, "Use keyboard shortcuts with one letter");
      const form = document.createElement("form");
      form.method = "dialog";
      const close = document.createElement("button");
      close.className = "secondary";
      close.textContent = "Close";
      form.append(close);
      sheet.append(title, list, choice, form);
      document.body.append(sheet);
    }
    sheet.showModal();
  };
  const items = () => [...document.querySelectorAll("main [data-item], main .issue-row a.title, main .commit a.commit-summary, main .files td.name a")];
  const move = (step) => {
    const all = items();
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
    all[next]?.focus();
  };
  document.getElementById("show-shortcuts")?.addEventListener("click", help);
  let prefix = "";
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    // The first element of the composed path: events from the editor's shadow root are retargeted to its host.
    if (event.composedPath()[0].closest?.("input, textarea, select, [contenteditable], dialog")) return;
    if (event.key === "?") { event.preventDefault(); help(); return; }
    if (stored() === "off") return;
    const before = prefix;
    prefix = "";
    if (before === "g") {
      if (goTo[event.key]) { event.preventDefault(); location.assign(goTo[event.key]); }
      return;
    }
    switch (event.key) {
      case "g":
        prefix = "g";
        setTimeout(() => { prefix = ""; }, 1500);
        break;
      case "/": {
        const field = document.querySelector("main form[role=search] input[type=search], .top .site-search input");
        if (field) { event.preventDefault(); field.focus(); }
        break;
      }
      case "t": {
        const finder = document.body.dataset.finder;
        if (finder) { event.preventDefault(); location.assign(finder); }
        break;
      }
      case "j": move(1); break;
      case "k": move(-1); break;
    }
  });
})();
