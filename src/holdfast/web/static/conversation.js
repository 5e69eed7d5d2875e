// Infinite scroll of a chat: fetches the previous and next pages, keeps the scroll position, and removes distant
// messages from the DOM, so that memory stays bounded. Without this script the links load page by page.
const chat = document.getElementById("chat");
const NEAR = 1200;
const KEPT = 6;
const coming = { older: false, newer: false };

const first = () => chat.firstElementChild;
const last = () => chat.lastElementChild;
const end = document.getElementById("latest");

function tidy() {
  const stretches = [...chat.children];
  stretches.forEach((stretch, number) => {
    const older = stretch.querySelector(".older")?.parentElement;
    const newer = stretch.querySelector(".newer")?.parentElement;
    if (older) older.hidden = number !== 0;
    if (newer) newer.hidden = number !== stretches.length - 1;
    const day = stretch.querySelector(".log > .day");
    const before = stretches[number - 1]?.querySelectorAll(".log > .day");
    const same = day && before?.length && before[before.length - 1].textContent === day.textContent;
    if (day) day.hidden = Boolean(same) && day === stretch.querySelector(".log").firstElementChild;
  });
  end.hidden = last().dataset.newer !== "";
}

// Scroll anchoring: content that is added or removed above must not move the visible messages.
function still(change) {
  const seen = [...chat.querySelectorAll(".log > .m")].find((one) => one.getBoundingClientRect().bottom > 0);
  const before = seen?.getBoundingClientRect().top;
  change();
  tidy();
  if (seen?.isConnected) window.scrollBy({ top: seen.getBoundingClientRect().top - before, behavior: "instant" });
}

async function bring(way) {
  const edge = way === "older" ? first() : last();
  const address = edge.dataset[way];
  if (!address || coming[way]) return;
  coming[way] = true;
  chat.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const stretch = page.querySelector("#chat > .message-page");
    if (!stretch || !edge.isConnected) return;
    stretch.dataset.address = address;
    still(() => {
      if (way === "older") {
        first().before(document.adoptNode(stretch));
        while (chat.children.length > KEPT) last().remove();
      } else {
        last().after(document.adoptNode(stretch));
        while (chat.children.length > KEPT) first().remove();
      }
    });
  } catch {
    // The links still work.
  } finally {
    coming[way] = false;
    chat.removeAttribute("aria-busy");
  }
}

let asked = false;
function look() {
  asked = false;
  const box = chat.getBoundingClientRect();
  if (box.top > -NEAR) bring("older");
  if (box.bottom < window.innerHeight + NEAR) bring("newer");
  const shown = [...chat.children].find((one) => one.getBoundingClientRect().bottom > window.innerHeight / 2);
  if (shown?.dataset.address && location.pathname + location.search !== shown.dataset.address) {
    history.replaceState(null, "", shown.dataset.address);
  }
}
function later() {
  if (!asked) {
    asked = true;
    requestAnimationFrame(look);
  }
}

// A quote scrolls to its message if that is loaded already.
chat.addEventListener("click", (event) => {
  const link = event.target.closest("a[href*='/to/']");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const message = document.getElementById(`m${link.getAttribute("href").split("/to/").pop()}`);
  if (!message) return;
  event.preventDefault();
  message.scrollIntoView({ block: "center" });
  message.classList.remove("found");
  requestAnimationFrame(() => message.classList.add("found"));
  message.tabIndex = -1;
  message.focus({ preventScroll: true });
});

first().dataset.address = location.pathname + location.search;
tidy();
if (/^#m\d+$/.test(location.hash)) document.querySelector(location.hash)?.scrollIntoView({ block: "center" });
window.addEventListener("scroll", later, { passive: true });
window.addEventListener("resize", later, { passive: true });
window.addEventListener("load", later);
