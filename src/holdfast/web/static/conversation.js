// Infinite scroll of a chat: fetches the previous and next pages, keeps the scroll position, and removes distant
// messages from the DOM, so that memory stays bounded. Without this script the links load page by page.
const chat = document.getElementById("chat");
const PRELOAD_DISTANCE = 1200;
const MAX_PAGES = 6;
const loading = { older: false, newer: false };

const first = () => chat.firstElementChild;
const last = () => chat.lastElementChild;
const end = document.getElementById("latest");

function updateLinksAndDays() {
  const messagePages = [...chat.children];
  messagePages.forEach((messagePage, number) => {
    const older = messagePage.querySelector(".older")?.parentElement;
    const newer = messagePage.querySelector(".newer")?.parentElement;
    if (older) older.hidden = number !== 0;
    if (newer) newer.hidden = number !== messagePages.length - 1;
    const day = messagePage.querySelector(".log > .day");
    const before = messagePages[number - 1]?.querySelectorAll(".log > .day");
    const same = day && before?.length && before[before.length - 1].textContent === day.textContent;
    if (day) day.hidden = Boolean(same) && day === messagePage.querySelector(".log").firstElementChild;
  });
  end.hidden = last().dataset.newer !== "";
}

// Scroll anchoring: content that is added or removed above must not move the visible messages.
function keepScrollPosition(change) {
  const anchor = [...chat.querySelectorAll(".log > .m")].find((one) => one.getBoundingClientRect().bottom > 0);
  const before = anchor?.getBoundingClientRect().top;
  change();
  updateLinksAndDays();
  if (anchor?.isConnected) window.scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
}

async function loadPage(direction) {
  const edge = direction === "older" ? first() : last();
  const address = edge.dataset[direction];
  if (!address || loading[direction]) return;
  loading[direction] = true;
  chat.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const messagePage = page.querySelector("#chat > .message-page");
    if (!messagePage || !edge.isConnected) return;
    messagePage.dataset.address = address;
    keepScrollPosition(() => {
      if (direction === "older") {
        first().before(document.adoptNode(messagePage));
        while (chat.children.length > MAX_PAGES) last().remove();
      } else {
        last().after(document.adoptNode(messagePage));
        while (chat.children.length > MAX_PAGES) first().remove();
      }
    });
  } catch {
    // The links still work.
  } finally {
    loading[direction] = false;
    chat.removeAttribute("aria-busy");
  }
}

let isScheduled = false;
function onScroll() {
  isScheduled = false;
  const box = chat.getBoundingClientRect();
  if (box.top > -PRELOAD_DISTANCE) loadPage("older");
  if (box.bottom < window.innerHeight + PRELOAD_DISTANCE) loadPage("newer");
  const shown = [...chat.children].find((one) => one.getBoundingClientRect().bottom > window.innerHeight / 2);
  if (shown?.dataset.address && location.pathname + location.search !== shown.dataset.address) {
    history.replaceState(null, "", shown.dataset.address);
  }
}
function scheduleOnScroll() {
  if (!isScheduled) {
    isScheduled = true;
    requestAnimationFrame(onScroll);
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
updateLinksAndDays();
if (/^#m\d+$/.test(location.hash)) document.querySelector(location.hash)?.scrollIntoView({ block: "center" });
window.addEventListener("scroll", scheduleOnScroll, { passive: true });
window.addEventListener("resize", scheduleOnScroll, { passive: true });
window.addEventListener("load", scheduleOnScroll);
