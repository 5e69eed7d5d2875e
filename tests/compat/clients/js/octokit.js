// The ordinary flow of a program written with octokit, pointed at this service instead of the one it is made for.
//
//   node octokit.js URL NAME PASSWORD TOKEN
import assert from "node:assert/strict";
import { Octokit } from "@octokit/rest";

const [url, name, , token] = process.argv.slice(2);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const octokit = new Octokit({ auth: token, baseUrl: `${url}/api/v1/`, log: silent });

/** Expect a call to fail with a status, as the client's own error. */
async function refused(status, call) {
  await assert.rejects(call, (error) => {
    assert.equal(error.name, "HttpError");
    assert.equal(error.status, status);
    assert.equal(typeof error.response.data.message, "string");
    return true;
  });
}

const { data: me } = await octokit.rest.users.getAuthenticated();
assert.equal(me.login, name);
assert.equal((await octokit.request("GET /version")).status, 200);

// Repositories.
const place = { owner: name, repo: "kite" };
const { data: repo } = await octokit.rest.repos.createForAuthenticatedUser({ name: "kite", auto_init: true, private: true });
assert.equal(repo.full_name, `${name}/kite`);
await refused(409, octokit.rest.repos.createForAuthenticatedUser({ name: "Kite" }));
await refused(422, octokit.rest.repos.createForAuthenticatedUser({ name: "" }));
await refused(404, octokit.rest.repos.get({ owner: name, repo: "balloon" }));
assert.equal((await octokit.rest.repos.update({ ...place, description: "Up" })).data.description, "Up");
await octokit.rest.repos.replaceAllTopics({ ...place, names: [] }).catch(() => undefined);
for (let number = 0; number < 4; number += 1) {
  await octokit.rest.repos.createForAuthenticatedUser({ name: `string-${number}` });
}
const mine = await octokit.paginate("GET /user/repos", { limit: 2 });
assert.equal(mine.length, 5);

// What is in it.
const { data: branches } = await octokit.rest.repos.listBranches(place);
assert.deepEqual(branches.map((branch) => branch.name), ["main"]);
const { data: commits } = await octokit.rest.repos.listCommits(place);
assert.equal(commits.length, 1);
const { data: commit } = await octokit.rest.repos.getCommit({ ...place, ref: commits[0].sha });
assert.equal(commit.files[0].filename, "README.md");
const { data: tree } = await octokit.rest.git.getTree({ ...place, tree_sha: commits[0].sha, recursive: "true" });
const { data: blob } = await octokit.rest.git.getBlob({ ...place, file_sha: tree.tree[0].sha });
assert.equal(blob.encoding, "base64");

// Issues.
await octokit.rest.issues.createLabel({ ...place, name: "wind", color: "00aabb" });
await octokit.rest.issues.createMilestone({ ...place, title: "Autumn" });
const { data: issue } = await octokit.rest.issues.create({ ...place, title: "It fell", body: "Hard", assignees: [name] });
assert.equal(issue.assignees[0].login, name);
const here = { ...place, issue_number: issue.number };
const { data: labels } = await octokit.rest.issues.addLabels({ ...here, labels: ["wind"] });
assert.deepEqual(labels.map((label) => label.name), ["wind"]);
await octokit.rest.issues.createComment({ ...here, body: "Ouch" });
assert.deepEqual((await octokit.rest.issues.listComments(here)).data.map((comment) => comment.body), ["Ouch"]);
for (let number = 0; number < 4; number += 1) {
  await octokit.rest.issues.create({ ...place, title: `Gust ${number}` });
}
const all = await octokit.paginate("GET /repos/{owner}/{repo}/issues", { ...place, limit: 2 });
assert.equal(all.length, 5);
await octokit.rest.issues.update({ ...here, state: "closed" });
assert.equal((await octokit.rest.issues.get(here)).data.state, "closed");
const { data: closed } = await octokit.rest.issues.listForRepo({ ...place, state: "closed" });
assert.deepEqual(closed.map((one) => one.number), [issue.number]);
await refused(404, octokit.rest.issues.get({ ...place, issue_number: 99 }));

// A working day: an issue, a branch, files, a pull request, its review, a status, the merge and a release. What is
// approved is called otherwise here, and merged with another method.
const { data: todo } = await octokit.rest.issues.create({ ...place, title: "The line is short" });
const { data: start } = await octokit.rest.repos.getBranch({ ...place, branch: "main" });
await octokit.request("POST /repos/{owner}/{repo}/branches", { ...place, new_branch_name: "line", old_ref_name: "main" });
for (let number = 0; number < 3; number += 1) {
  const content = btoa("a yard\nof line\n");
  const file = { ...place, path: `line/${number}.txt`, content, branch: "line", message: "Add a yard" };
  assert.equal((await octokit.request("POST /repos/{owner}/{repo}/contents/{path}", file)).status, 201);
}
const opened = { ...place, head: "line", base: "main", title: "A longer line", body: `Closes #${todo.number}` };
const { data: pull } = await octokit.rest.pulls.create(opened);
const at = { ...place, pull_number: pull.number };
assert.equal(pull.base.sha, start.commit.id ?? start.commit.sha);
assert.deepEqual((await octokit.rest.pulls.list({ ...place, state: "open" })).data.map((one) => one.number), [pull.number]);
assert.equal((await octokit.rest.pulls.listFiles(at)).data.length, 3);
assert.equal((await octokit.rest.pulls.listCommits(at)).data.length, 3);
await refused(422, octokit.rest.pulls.createReview({ ...at, event: "APPROVED" }));
const { data: review } = await octokit.rest.pulls.createReview({ ...at, event: "COMMENT", body: "Long enough" });
assert.equal(review.state, "COMMENT");
assert.deepEqual((await octokit.rest.pulls.listReviews(at)).data.map((one) => one.body), ["Long enough"]);
const sha = pull.head.sha;
await octokit.rest.repos.createCommitStatus({ ...place, sha, state: "success", context: "ci/wind" });
assert.equal((await octokit.rest.repos.getCombinedStatusForRef({ ...place, ref: sha })).data.state, "success");
await refused(404, octokit.rest.pulls.checkIfMerged(at));
await octokit.request("POST /repos/{owner}/{repo}/pulls/{pull_number}/merge", { ...at, Do: "squash" });
assert.equal((await octokit.rest.pulls.checkIfMerged(at)).status, 204);
assert.equal((await octokit.rest.pulls.get(at)).data.merged, true);
assert.equal((await octokit.rest.issues.get({ ...place, issue_number: todo.number })).data.state, "closed");
const { data: release } = await octokit.rest.repos.createRelease({ ...place, tag_name: "v1", target_commitish: "main" });
const upload = { ...place, release_id: release.id, name: "plan.txt", data: "a plan", baseUrl: `${url}/api/v1` };
const { data: asset } = await octokit.rest.repos.uploadReleaseAsset(upload);
assert.deepEqual([asset.name, asset.size], ["plan.txt", 6]);
assert.equal((await octokit.rest.repos.getLatestRelease(place)).data.assets[0].name, "plan.txt");
assert.equal((await octokit.rest.repos.getReleaseByTag({ ...place, tag: "v1" })).data.id, release.id);
await octokit.request("DELETE /repos/{owner}/{repo}/branches/{branch}", { ...place, branch: "line" });

// Webhooks; which type they are is more than this client knows by itself.
const config = { url: "https://ci.example.org/h", content_type: "json", secret: "gust" };
await refused(422, octokit.rest.repos.createWebhook({ ...place, config }));
const { data: hook } = await octokit.rest.repos.createWebhook({ ...place, type: "gitea", config, events: ["push"] });
assert.deepEqual([hook.type, hook.events, hook.config.secret], ["gitea", ["push"], undefined]);
const there = { ...place, hook_id: hook.id };
assert.deepEqual((await octokit.rest.repos.listWebhooks(place)).data, [hook]);
assert.deepEqual((await octokit.rest.repos.getWebhook(there)).data, hook);
assert.equal((await octokit.rest.repos.updateWebhook({ ...there, active: true })).data.active, true);
assert.equal((await octokit.rest.repos.testPushWebhook(there)).status, 204);
const { data: told } = await octokit.rest.repos.listWebhookDeliveries(there);
assert.deepEqual(told.map((one) => one.event), ["push"]);
const { data: one } = await octokit.rest.repos.getWebhookDelivery({ ...there, delivery_id: told[0].id });
assert.equal(one.status, "waiting");
assert.equal((await octokit.rest.repos.deleteWebhook(there)).status, 204);
await refused(404, octokit.rest.repos.getWebhook(there));

// Organizations, and away with everything.
await octokit.request("POST /orgs", { username: "sky" });
assert.equal((await octokit.rest.orgs.get({ org: "sky" })).data.login ?? "sky", "sky");
await octokit.rest.repos.createInOrg({ org: "sky", name: "cloud" });
assert.deepEqual((await octokit.rest.repos.listForOrg({ org: "sky" })).data.map((one) => one.name), ["cloud"]);
const inOrg = { org: "sky", type: "gitea", name: "web", config };
const { data: wide } = await octokit.rest.orgs.createWebhook(inOrg);
assert.deepEqual((await octokit.rest.orgs.listWebhooks({ org: "sky" })).data, [wide]);
await octokit.rest.orgs.updateWebhook({ org: "sky", hook_id: wide.id, active: true });
assert.equal((await octokit.rest.orgs.getWebhook({ org: "sky", hook_id: wide.id })).data.active, true);
await octokit.rest.orgs.deleteWebhook({ org: "sky", hook_id: wide.id });
await octokit.rest.repos.delete({ owner: "sky", repo: "cloud" });
await octokit.request("DELETE /orgs/sky");
await octokit.rest.repos.delete(place);
await refused(404, octokit.rest.repos.get(place));
const stranger = new Octokit({ auth: "0".repeat(40), baseUrl: `${url}/api/v1/`, log: silent });
await refused(401, stranger.rest.users.getAuthenticated());
