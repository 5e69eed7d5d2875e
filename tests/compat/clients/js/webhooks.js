// A receiver written with @octokit/webhooks: it makes a webhook that calls it back, and checks who calls.
//
//   node webhooks.js URL NAME PASSWORD TOKEN
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";

const [url, name, , token] = process.argv.slice(2);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const secret = "It is nobody's business – wirklich";

/** Call the API. */
async function call(method, path, body) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { Authorization: `token ${token}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.status === 204 ? null : answer.json();
}

/** Ask again and again until there is what is wanted. */
async function until(look) {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("waited in vain");
}

const webhooks = new Webhooks({ secret, log: silent });
const received = [];
webhooks.onAny(({ id, name: kind, payload }) => received.push({ id, kind, payload }));
const middleware = createNodeMiddleware(webhooks, { path: "/hook", log: silent });
const server = createServer(middleware);
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const mine = `http://127.0.0.1:${server.address().port}/hook`;

await call("POST", "/user/repos", { name: "bell", auto_init: true });
const events = ["push", "issues"];
const hook = (key) => ({ type: "gitea", active: true, events, config: { url: mine, content_type: "json", secret: key } });
const trusted = await call("POST", `/repos/${name}/bell/hooks`, hook(secret));
await call("POST", `/repos/${name}/bell/issues`, { title: "It rings – läutet 🔔", body: "Twice" });
await call("POST", `/repos/${name}/bell/contents/rope.txt`, { content: "cm9wZQ==", message: "Tie a rope" });

const [opened, pushed] = await until(() => received.length >= 2 && received);
assert.equal(opened.kind, "issues");
assert.equal(opened.payload.action, "opened");
assert.equal(opened.payload.issue.title, "It rings – läutet 🔔");
assert.equal(pushed.kind, "push");
assert.equal(pushed.payload.ref, "refs/heads/main");
assert.equal(pushed.payload.commits[0].message.trim(), "Tie a rope");
const history = await until(async () => {
  const found = await call("GET", `/repos/${name}/bell/hooks/${trusted.id}/deliveries?status=delivered`);
  return found.length === 2 && found;
});
assert.deepEqual(new Set(history.map((one) => one.uuid)), new Set(received.map((one) => one.id)));

// Whoever signs with another secret is turned away.
await call("DELETE", `/repos/${name}/bell/hooks/${trusted.id}`);
const stranger = await call("POST", `/repos/${name}/bell/hooks`, hook("another secret"));
await call("POST", `/repos/${name}/bell/issues`, { title: "Who is it?" });
const [refused] = await until(async () => {
  const found = await call("GET", `/repos/${name}/bell/hooks/${stranger.id}/deliveries`);
  return found.length && found[0].response_status && found;
});
assert.equal(refused.response_status, 400);
assert.equal(refused.status, "waiting");
assert.equal(received.length, 2);
await call("DELETE", `/repos/${name}/bell`);
server.close();
server.closeAllConnections();
