// Searches an export. Which pages a word stands on is in search/*.js, what stands on a page in a file beside it;
// both are loaded as scripts, because a page that lies on a disk may load nothing else. Whatever is found is shown
// as text: nothing here makes markup of it.
"use strict";

const holdfast = {};

(() => {
  const LONGEST = 32;
  const AT_ONCE = 30;
  const SCRIPTS = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3100-\\u318f\\u31f0-\\u31ff" +
    "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\uff66-\\uff9f\\u{20000}-\\u{3ffff}";
  const EMOJI = "\\u2190-\\u21ff\\u2300-\\u23ff\\u2460-\\u24ff\\u25a0-\\u27bf\\u2900-\\u297f\\u2b00-\\u2bff" +
    "\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}";
  const LOOKS = "\\u200d\\ufe0e\\ufe0f\\u20e3\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}";
  const RUN = new RegExp(`[${SCRIPTS}${EMOJI}${LOOKS}]+`, "gu");
  const UNSEEN = new RegExp(`[${LOOKS}]+`, "gu");
  const WORD = /[\p{L}\p{N}]+/gu;

  const form = document.querySelector("form.find");
  const state = document.getElementById("state");
  const hits = document.querySelector(".hits");
  const more = document.querySelector(".more");

  const fold = (text) => text.normalize("NFKD").toLowerCase().replace(/\p{Mn}+/gu, "").normalize("NFC");

  // Scripts announce themselves under a key; whoever waits for it is told.
  const waiting = new Map();
  const arrived = (key, value) => {
    const tell = waiting.get(key);
    waiting.delete(key);
    if (tell) tell(value);
  };
  const load = (key, source) => new Promise((resolve, reject) => {
    waiting.set(key, resolve);
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => script.remove();
    script.onerror = () => reject(new Error(source));
    document.head.append(script);
  });
  holdfast.index = (value) => arrived("index", value);
  holdfast.words = (number, value) => arrived(`words ${number}`, value);
  holdfast.page = (name, value) => arrived(`page ${name}`, value);

  const kept = new Map();
  const once = (key, source) => {
    if (!kept.has(key)) kept.set(key, load(key, source));
    return kept.get(key);
  };
  const index = () => once("index", "search/index.js");
  const shard = (number) => once(`words ${number}`, `search/${number}.js`);

  // What is asked for: words, of which the beginning is enough, phrases, and signs without spaces between them.
  const parse = (text) => {
    const wanted = [];
    for (const [, phrase, word] of text.matchAll(/"([^"]*)"?|([^\s"]+)/gu)) {
      const folded = fold(phrase ?? word);
      const signs = [];
      for (const run of folded.match(RUN) || []) {
        const all = [...run.replace(UNSEEN, "")];
        if (all.length === 1) signs.push(all[0]);
        for (let n = 1; n < all.length; n += 1) signs.push(all[n - 1] + all[n]);
      }
      const words = folded.replace(RUN, " ").match(WORD) || [];
      if (words.length || signs.length) {
        wanted.push({ text: folded.replace(UNSEEN, "").trim(), words, signs, whole: phrase !== undefined });
      }
    }
    return wanted;
  };

  // The pages a word stands on, or with `begins` every word that begins so.
  const pagesOf = async (word, begins) => {
    const { firsts } = await index();
    const cut = word.length > LONGEST ? [...word].slice(0, LONGEST).join("") : word;
    let at = firsts.length - 1;
    while (at > 0 && firsts[at] > cut) at -= 1;
    const found = new Set();
    for (; at < firsts.length; at += 1) {
      const words = await shard(at);
      for (const [one, steps] of Object.entries(words)) {
        if (one === cut || (begins && one.startsWith(cut))) {
          let page = 0;
          for (const step of steps) {
            page += step;
            found.add(page);
          }
        }
      }
      if (at + 1 < firsts.length && !(begins && firsts[at + 1].startsWith(cut)) && firsts[at + 1] > cut) break;
    }
    return found;
  };

  const candidates = async (wanted) => {
    let common = null;
    for (const part of wanted) {
      for (const [n, word] of [...part.words, ...part.signs].entries()) {
        const last = n === part.words.length - 1;
        const found = await pagesOf(word, n < part.words.length && (!part.whole || last));
        common = common === null ? found : new Set([...common].filter((page) => found.has(page)));
        if (common.size === 0) return common;
      }
    }
    return common || new Set();
  };

  // Where a part of the query stands in a folded text, at the beginning of a word; -1 if nowhere.
  const LETTER = /[\p{L}\p{N}]/u;
  const place = (text, part) => {
    const free = part.words.length === 0 || part.text.search(RUN) === 0;
    for (let at = text.indexOf(part.text); at >= 0; at = text.indexOf(part.text, at + 1)) {
      if (free || at === 0 || !LETTER.test(text.slice(Math.max(0, at - 1), at))) return at;
    }
    return -1;
  };

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // The text around the first hit, with the hits marked; folding changes lengths, so signs are folded one by one.
  const excerpt = (text, wanted) => {
    const signs = [...text];
    const from = [];
    let folded = "";
    signs.forEach((sign, n) => {
      const bare = fold(sign).replace(UNSEEN, "");
      for (let k = 0; k < bare.length; k += 1) from.push(n);
      folded += bare;
    });
    from.push(signs.length);
    const spans = wanted.map((part) => [place(folded, part), part.text.length]).filter(([at]) => at >= 0)
      .map(([at, size]) => [from[at], from[Math.min(at + size, from.length - 1)]]).sort((a, b) => a[0] - b[0]);
    const start = Math.max(0, (spans.length ? spans[0][0] : 0) - 80);
    const end = Math.min(signs.length, start + 300);
    const line = element("span");
    line.dir = "auto";
    let at = start;
    if (start > 0) line.append("…");
    for (const [left, right] of spans) {
      if (left < at || right > end) continue;
      line.append(signs.slice(at, left).join(""), element("mark", signs.slice(left, right).join("")));
      at = right;
    }
    line.append(signs.slice(at, end).join(""), end < signs.length ? "…" : "");
    return line;
  };

  const show = ({ folder, name: chat, page, author, row: [number, , sent, text] }, wanted) => {
    const link = element("a");
    link.href = `${folder.split("/").map(encodeURIComponent).join("/")}/${page}.html#m${number}`;
    const head = element("span", undefined, "head");
    const name = element("b", author);
    name.dir = "auto";
    const room = element("span", chat);
    room.dir = "auto";
    const when = new Date(sent);
    const date = Number.isNaN(when.getTime()) ? "" : when.toISOString().slice(0, 16).replace("T", " ");
    head.append(name, room, element("time", date));
    link.append(head, excerpt(text, wanted));
    const row = element("li");
    row.append(link);
    hits.append(row);
  };

  let running = 0;
  let next = null;
  const search = async () => {
    const mine = running += 1;
    const query = form.elements.q.value;
    const chat = form.elements.chat.selectedOptions[0];
    const home = chat ? chat.dataset.home : undefined;
    hits.replaceChildren();
    more.hidden = true;
    const wanted = parse(query);
    state.textContent = wanted.length ? "Searching…" : "";
    if (!wanted.length) return;
    const { chats, pages } = await index();
    const found = [...await candidates(wanted)].filter((page) => home === undefined || chats[pages[page][0]][0] === home);
    // The page with the newest message comes first. A hit is shown when no page that is left can have a newer one.
    found.sort((a, b) => pages[b][2] - pages[a][2]);
    const held = [];
    let count = 0;
    const turn = async () => {
      const [room, page] = pages[found.shift()];
      const [folder, name] = chats[room];
      const path = folder.split("/").map(encodeURIComponent).join("/");
      const [authors, rows] = await load(`page ${folder}/${page}`, `${path}/${page}.js`);
      for (const row of rows) {
        const text = fold(row[3]).replace(UNSEEN, "");
        if (wanted.every((part) => place(text, part) >= 0)) held.push({ folder, name, page, author: authors[row[1]], row });
      }
      held.sort((a, b) => a.row[2] - b.row[2]);
    };
    next = async () => {
      const limit = count + AT_ONCE;
      more.hidden = true;
      while (count < limit && (found.length || held.length)) {
        if (found.length && (!held.length || held[held.length - 1].row[2] < pages[found[0]][2])) {
          await turn();
          if (mine !== running) return;
        } else {
          show(held.pop(), wanted);
          count += 1;
        }
      }
      const rest = found.length + held.length > 0;
      more.hidden = !rest;
      state.textContent = count === 0 ? "Nothing was found." :
        `${count}${rest ? " or more" : ""} ${count === 1 ? "message" : "messages"} found, the newest first`;
    };
    await next();
  };

  const run = () => {
    const part = new URLSearchParams({ chat: form.elements.chat.value, q: form.elements.q.value });
    history.replaceState(null, "", `#${part}`);
    search().catch((problem) => { state.textContent = `A file of this export cannot be read: ${problem.message}`; });
  };
  document.getElementById("needs").remove();
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  form.elements.chat.addEventListener("change", run);
  more.querySelector("button").addEventListener("click", () => next && next());
  const given = new URLSearchParams(location.hash.slice(1));
  form.elements.chat.value = given.get("chat") || "";
  form.elements.q.value = given.get("q") || "";
  form.elements.q.focus();
  if (form.elements.q.value) run();
})();
