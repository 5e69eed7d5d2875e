// Visits pages with Firefox, over WebDriver BiDi, and prints what it found as JSON.
//   node firefox.mjs job.json
// The job: {"firefox", "url", "user", "password", "axe", "levels", "widths", "paths", "editor", "pull"}.
import { readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await puppeteer.launch({ browser: "firefox", executablePath: job.firefox, headless: true });
const visits = [];

async function logIn(page) {
  await page.goto(`${job.url}/login`);
  await page.type("[name=name]", job.user);
  await page.type("[name=password]", job.password);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

async function visit(page, path) {
  const problems = [];
  const listen = (message) => {
    if (["error", "warn"].includes(message.type())) problems.push(message.text());
  };
  const fail = (error) => problems.push(String(error));
  page.on("console", listen);
  page.on("pageerror", fail);
  const response = await page.goto(job.url + path, { waitUntil: "networkidle0" });
  // What axe sends to a sandboxed frame is refused, and is no complaint about the page.
  page.off("console", listen);
  page.off("pageerror", fail);
  await page.evaluate(job.axe);
  const found = await page.evaluate(
    async (levels) => {
      const options = { runOnly: { type: "tag", values: levels }, resultTypes: ["violations"], preload: false };
      const { violations } = await axe.run(document, options);
      return {
        violations: violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html}`)),
        fits: document.documentElement.scrollWidth <= window.innerWidth,
        formulas: document.querySelectorAll("math").length,
        diagrams: [...document.querySelectorAll("iframe")].map((frame) => frame.clientHeight),
        pictures: [...document.querySelectorAll(".log img, .tiles img")].filter((one) => one.naturalWidth > 0).length,
        days: document.querySelectorAll(".calendar a").length,
        messages: document.querySelectorAll(".log > .m").length,
        hits: document.querySelectorAll("mark").length,
      };
    },
    job.levels,
  );
  return { path, status: response.status(), problems, ...found };
}

// Types into the editor and sends the form.
async function edit(page) {
  await page.goto(job.url + job.editor, { waitUntil: "networkidle0" });
  const editor = await page.waitForSelector(">>> .cm-content");
  await editor.click();
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type("written with Firefox");
  await Promise.all([page.waitForNavigation(), page.evaluate(() => document.querySelector("form textarea").form.requestSubmit())]);
  return page.url();
}

async function press(page, selector) {
  await page.focus(selector);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

// Comments on a line of a pull request, looks at the comment, and merges.
async function review(page) {
  await page.goto(`${job.url}${job.pull}/files`, { waitUntil: "networkidle0" });
  await press(page, 'button[aria-label="Comment on line 1"]');
  await page.type("#line-comment", "Why not two?");
  await press(page, "form:has(#line-comment) button[value=single]");
  for (const path of [`${job.pull}/files`, job.pull]) visits.push({ width: page.viewport().width, ...(await visit(page, path)) });
  const comments = await page.$$eval(".line-comment, .comment", (found) => found.map((one) => one.textContent));
  await press(page, 'button[name=then][value=merge]');
  return { comments, notice: await page.$eval("[role=status]", (one) => one.textContent.trim()) };
}

try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  const before = await visit(page, "/");
  visits.push({ width: 1280, ...before });
  await logIn(page);
  for (const width of job.widths) {
    await page.setViewport({ width, height: 844 });
    for (const path of job.paths) visits.push({ width, ...(await visit(page, path)) });
  }
  const edited = job.editor ? await edit(page) : null;
  const reviewed = job.pull ? await review(page) : null;
  console.log(JSON.stringify({ visits, edited, reviewed }));
} finally {
  await browser.close();
}
