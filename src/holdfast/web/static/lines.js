// Highlights the lines of the URL fragment (#L3 or #L3-L9), and selects a range with the shift key. A long file has
// several pages: a line of another page is shown by loading that page, from a few lines before it.
"use strict";
(() => {
  const code = document.querySelector("pre.code, table.blame");
  if (!code) return;
  // The column beside the lines is there on wide screens only; on others the list of symbols would come before them.
  const symbols = document.querySelector("details.symbols");
  if (symbols && matchMedia("(min-width: 64rem)").matches) symbols.open = true;
  const rangeInHash = () => {
    const match = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash);
    if (!match) return null;
    const one = Number(match[1]), other = Number(match[2] || match[1]);
    return [Math.min(one, other), Math.max(one, other)];
  };
  const CONTEXT = 10;
  const load = (number) => {
    if (document.getElementById(`L${number}`) || number < 1 || number > Number(code.dataset.total)) return false;
    const query = new URLSearchParams(location.search);
    const first = String(Math.max(1, number - CONTEXT));
    // The context lines alone may fill a page.
    query.set("line", query.get("line") === first ? number : first);
    location.replace(`${location.pathname}?${query}${location.hash}`);
    return true;
  };
  const highlight = () => {
    for (const line of code.querySelectorAll(".marked")) line.classList.remove("marked");
    const range = rangeInHash();
    if (!range || load(range[0])) return;
    for (let number = range[0]; number <= Math.min(range[1], range[0] + 5000); number++) {
      document.getElementById(`L${number}`)?.classList.add("marked");
    }
    if (range[0] !== range[1]) document.getElementById(`L${range[0]}`)?.scrollIntoView({ block: "center" });
  };
  code.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#L"]');
    const range = rangeInHash();
    if (!link || !event.shiftKey || !range) return;
    event.preventDefault();
    const to = Number(link.getAttribute("href").slice(2));
    history.replaceState(null, "", `#L${Math.min(range[0], to)}-L${Math.max(range[0], to)}`);
    highlight();
  });
  addEventListener("hashchange", highlight);
  highlight();
})();
