// The ordinary flow of a program written with gitea-js.
//
//   node gitea.js URL NAME PASSWORD TOKEN
import assert from "node:assert/strict";
import { giteaApi } from "gitea-js";

const [url, name, password, token] = process.argv.slice(2);
const api = giteaApi(`${url}/`, { token });

/** Expect a call to fail with a status and the contract's body. */
async function refused(status, call) {
  try {
    await call;
  } catch (response) {
    assert.equal(response.status, status, JSON.stringify(response.error));
    assert.equal(typeof response.error.message, "string");
    return;
  }
  assert.fail(`not refused with ${status}`);
}

const data = async (call) => (await call).data;

// Who am I, and a token of my own.
assert.ok((await data(api.version.getVersion())).version);
assert.equal((await data(api.user.userGetCurrent())).login, name);
const basic = giteaApi(`${url}/`, {
  customFetch: (input, init) =>
    fetch(input, { ...init, headers: { ...init.headers, authorization: `Basic ${btoa(`${name}:${password}`)}` } }),
});
const made = await data(basic.users.userCreateToken(name, { name: "js", scopes: ["write:repository", "read:user"] }));
assert.match(made.sha1, /^[0-9a-f]{40}$/);
const narrow = giteaApi(`${url}/`, { token: made.sha1 });
assert.equal((await data(narrow.user.userGetCurrent())).login, name);
await refused(403, narrow.orgs.orgCreate({ username: "kept-out" }));
await basic.users.userDeleteAccessToken("js", name).catch(() => basic.users.userDeleteAccessToken(name, "js"));
await refused(401, narrow.user.userGetCurrent());

// People and an organization with a team.
await api.admin.adminCreateUser({
  username: "finch",
  email: "finch@example.org",
  password: "seeds-and-worms-3",
  must_change_password: false,
});
await refused(422, api.admin.adminCreateUser({ username: "finch", email: "f@example.org", password: "seeds-and-worms-3" }));
assert.equal((await data(api.orgs.orgCreate({ username: "flock", full_name: "The Flock" }))).name, "flock");
const team = await data(
  api.orgs.orgCreateTeam("flock", { name: "singers", permission: "write", units: ["repo.code", "repo.issues"] }),
);
await api.teams.orgAddTeamMember(team.id, "finch");
assert.deepEqual((await data(api.teams.orgListTeamMembers(team.id))).map((user) => user.login), ["finch"]);

// A repository of the organization.
const repo = await data(api.orgs.createOrgRepo("flock", { name: "nest", auto_init: true, default_branch: "main" }));
assert.equal(repo.full_name, "flock/nest");
await refused(409, api.orgs.createOrgRepo("flock", { name: "nest" }));
await refused(422, api.orgs.createOrgRepo("flock", { name: "" }));
await refused(404, api.repos.repoGet("flock", "egg"));
await api.teams.orgAddTeamRepository(team.id, "flock", "nest");
assert.equal((await data(api.repos.repoEdit("flock", "nest", { description: "Twigs" }))).description, "Twigs");
await api.repos.repoAddCollaborator("flock", "nest", "finch", { permission: "read" });
for (let number = 0; number < 4; number += 1) {
  await api.user.createCurrentUserRepo({ name: `egg-${number}` });
}
const page = await api.user.userCurrentListRepos({ page: 2, limit: 2 });
assert.equal(page.data.length, 2);
assert.equal(page.headers.get("x-total-count"), "5");
assert.match(page.headers.get("link"), /rel="next"/);

// What is in it.
const [main] = await data(api.repos.repoListBranches("flock", "nest"));
const branch = { new_branch_name: "twig/soft", old_ref_name: "main" };
assert.equal((await data(api.repos.repoCreateBranch("flock", "nest", branch))).commit.id, main.commit.id);
await refused(409, api.repos.repoCreateBranch("flock", "nest", branch));
const [commit] = await data(api.repos.repoGetAllCommits("flock", "nest", { sha: "main" }));
assert.equal(commit.sha, main.commit.id);
const tree = await data(api.repos.getTree("flock", "nest", commit.sha));
assert.equal((await data(api.repos.getBlob("flock", "nest", tree.tree[0].sha))).encoding, "base64");
await api.repos.repoDeleteBranch("flock", "nest", "twig/soft");

// Issues.
const label = await data(api.repos.issueCreateLabel("flock", "nest", { name: "cat", color: "#000000" }));
const milestone = await data(api.repos.issueCreateMilestone("flock", "nest", { title: "Summer" }));
const issue = await data(
  api.repos.issueCreateIssue("flock", "nest", {
    title: "A cat",
    assignees: ["finch"],
    labels: [label.id],
    milestone: milestone.id,
  }),
);
assert.equal(issue.labels[0].name, "cat");
assert.equal(issue.assignees[0].login, "finch");
const comment = await data(api.repos.issueCreateComment("flock", "nest", issue.number, { body: "Fly!" }));
assert.deepEqual((await data(api.repos.issueGetComments("flock", "nest", issue.number))).map((one) => one.id), [comment.id]);
assert.equal((await data(api.repos.issueEditIssue("flock", "nest", issue.number, { state: "closed" }))).state, "closed");
assert.equal((await data(api.repos.issueListIssues("flock", "nest", { state: "closed", labels: "cat" }))).length, 1);
assert.equal((await data(api.repos.issueListIssues("flock", "nest"))).length, 0);
await refused(404, api.repos.issueGetIssue("flock", "nest", 99));

// Webhooks, wherever they can be at home.
const config = { url: "https://ci.example.org/h", content_type: "json", secret: "worm" };
const homes = [
  [["flock"], api.orgs.orgCreateHook, api.orgs.orgListHooks, api.orgs.orgGetHook, api.orgs.orgEditHook, api.orgs.orgDeleteHook],
  [
    ["flock", "nest"],
    api.repos.repoCreateHook,
    api.repos.repoListHooks,
    api.repos.repoGetHook,
    api.repos.repoEditHook,
    api.repos.repoDeleteHook,
  ],
  [[], api.user.userCreateHook, api.user.userListHooks, api.user.userGetHook, api.user.userEditHook, api.user.userDeleteHook],
  [
    [],
    api.admin.adminCreateHook,
    api.admin.adminListHooks,
    api.admin.adminGetHook,
    api.admin.adminEditHook,
    api.admin.adminDeleteHook,
  ],
];
for (const [place, create, list, show, edit, remove] of homes) {
  const hook = await data(create(...place, { type: "gitea", config, events: ["push"], name: "CI", active: true }));
  assert.deepEqual([hook.type, hook.active, hook.authorization_header], ["gitea", true, ""]);
  assert.equal(hook.config.secret, undefined);
  await create(...place, { type: "discord", config });
  const hooks = await list(...place, { page: 1, limit: 1 });
  assert.deepEqual([hooks.data.length, hooks.headers.get("x-total-count")], [1, "2"]);
  assert.deepEqual(await data(show(...place, hook.id)), hook);
  const edited = await data(edit(...place, hook.id, { branch_filter: "main" }));
  assert.deepEqual([edited.branch_filter, edited.name, edited.events], ["main", "CI", ["push"]]);
  await refused(422, create(...place, { type: "gitea", config: { ...config, url: "nest" } }));
  await refused(422, edit(...place, hook.id, { events: ["hatch"] }));
  if (place.length === 2) {
    await api.repos.repoTestHook(...place, hook.id, { ref: "main" });
  }
  for (const one of await data(list(...place))) {
    await remove(...place, one.id);
  }
  await refused(404, show(...place, hook.id));
}

// What blocks what.
const numbers = async (call) => (await data(call)).map((one) => one.number);
const first = (await data(api.repos.issueCreateIssue("flock", "nest", { title: "Lay eggs" }))).number;
const second = (await data(api.repos.issueCreateIssue("flock", "nest", { title: "Build" }))).number;
const twigs = (await data(api.repos.issueCreateIssue(name, "egg-0", { title: "Twigs" }))).number;
const meta = (index, owner = "flock", repo = "nest") => ({ index, owner, repo });
const waiting = await data(api.repos.issueCreateIssueDependencies("flock", "nest", String(first), meta(second)));
assert.equal(waiting.number, first);
assert.equal(waiting.blocked_by_count, 1);
await api.repos.issueCreateIssueBlocking(name, "egg-0", String(twigs), meta(second));
assert.deepEqual(await numbers(api.repos.issueListIssueDependencies("flock", "nest", String(first))), [second]);
assert.deepEqual(await numbers(api.repos.issueListIssueDependencies("flock", "nest", String(second))), [twigs]);
assert.deepEqual(await numbers(api.repos.issueListBlocks(name, "egg-0", String(twigs))), [second]);
await refused(409, api.repos.issueCreateIssueDependencies("flock", "nest", String(second), meta(first)));
await refused(409, api.repos.issueCreateIssueDependencies(name, "egg-0", String(twigs), meta(first)));
await refused(412, api.repos.issueEditIssue("flock", "nest", second, { state: "closed" }));
await api.repos.issueEditIssue(name, "egg-0", twigs, { state: "closed" });
await api.repos.issueEditIssue("flock", "nest", second, { state: "closed" });
await api.repos.issueRemoveIssueDependencies("flock", "nest", String(first), meta(second));
await api.repos.issueRemoveIssueBlocking(name, "egg-0", String(twigs), meta(second));
assert.deepEqual(await numbers(api.repos.issueListIssueDependencies("flock", "nest", String(second))), []);
await refused(404, api.repos.issueRemoveIssueDependencies("flock", "nest", String(first), meta(second)));

// A working day: an issue, a branch, files, a pull request, its review, a status, the merge and a release.
const colleague = giteaApi(`${url}/`, {
  customFetch: (input, init) =>
    fetch(input, { ...init, headers: { ...init.headers, authorization: `Basic ${btoa("finch:seeds-and-worms-3")}` } }),
});
const day = ["flock", "nest"];
const todo = await data(api.repos.issueCreateIssue(...day, { title: "It is cold" }));
await api.repos.repoCreateBranch(...day, { new_branch_name: "feathers", old_ref_name: "main" });
for (let number = 0; number < 3; number += 1) {
  const file = { content: btoa("down\nquill\n"), branch: "feathers", message: "Add a feather" };
  assert.equal((await data(api.repos.repoCreateFile(...day, `feathers/${number}.txt`, file))).content.size, 11);
}
const pull = await data(
  api.repos.repoCreatePullRequest(...day, { head: "feathers", base: "main", title: "Feathers", body: `Closes #${todo.number}` }),
);
assert.deepEqual([pull.head.ref, pull.base.ref, pull.merged], ["feathers", "main", false]);
const changed = await data(api.repos.repoGetPullRequestFiles(...day, pull.number));
assert.deepEqual(changed.map((file) => [file.status, file.additions]), Array(3).fill(["added", 2]));
const review = await data(
  colleague.repos.repoCreatePullReview(...day, pull.number, {
    event: "APPROVED",
    body: "Warm",
    comments: [{ path: "feathers/0.txt", body: "Soft", new_position: 1 }],
  }),
);
assert.deepEqual([review.state, review.comments_count, review.user.login], ["APPROVED", 1, "finch"]);
await refused(422, api.repos.repoCreatePullReview(...day, pull.number, { event: "APPROVED" }));
await api.repos.repoCreateStatus(...day, pull.head.sha, { state: "success", context: "ci/weight" });
assert.equal((await data(api.repos.repoGetCombinedStatusByRef(...day, pull.head.sha))).state, "success");
await refused(409, api.repos.repoMergePullRequest(...day, pull.number, { Do: "merge", head_commit_id: "0".repeat(40) }));
await api.repos.repoMergePullRequest(...day, pull.number, { Do: "merge", head_commit_id: pull.head.sha });
assert.equal((await api.repos.repoPullRequestIsMerged(...day, pull.number)).status, 204);
assert.equal((await data(api.repos.repoGetPullRequest(...day, pull.number))).merged, true);
assert.equal((await data(api.repos.issueGetIssue(...day, todo.number))).state, "closed");
const release = await data(api.repos.repoCreateRelease(...day, { tag_name: "v2", target_commitish: "main", name: "Two" }));
const attachment = new File(["a song"], "song.txt");
const asset = await data(api.repos.repoCreateReleaseAttachment(...day, release.id, { attachment }));
assert.deepEqual([asset.name, asset.size], ["song.txt", 6]);
assert.equal((await data(api.repos.repoGetLatestRelease(...day))).assets[0].name, "song.txt");
await api.repos.repoDeleteBranch(...day, "feathers");

// And away with it.
await api.repos.repoDelete("flock", "nest");
await api.orgs.orgDelete("flock");
await refused(404, api.orgs.orgGet("flock"));
