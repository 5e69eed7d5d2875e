// The ordinary flow of a program written with the Go SDK: everything it makes it finds again, pages through, changes
// and deletes, and what is refused comes back as an error with its status.
//
//	go-client URL NAME PASSWORD
package main

import (
	"fmt"
	"net/http"
	"os"

	"code.gitea.io/sdk/gitea"
)

// must stops the program when a call failed.
func must(err error, doing string) {
	if err != nil {
		fail("%s: %v", doing, err)
	}
}

// check stops the program when something is not so.
func check(holds bool, what string, values ...any) {
	if !holds {
		fail(what, values...)
	}
}

// refused stops the program unless a call failed with this status.
func refused(response *gitea.Response, err error, status int, doing string) {
	check(err != nil, "%s: not refused", doing)
	check(response != nil && response.StatusCode == status, "%s: %v", doing, err)
}

func fail(what string, values ...any) {
	fmt.Fprintf(os.Stderr, what+"\n", values...)
	os.Exit(1)
}

func pointer[T any](value T) *T { return &value }

func main() {
	url, name, password := os.Args[1], os.Args[2], os.Args[3]
	client := login(url, name, password)
	people(client, url)
	repository(client)
	organization(client)
	code(client)
	issues(client)
	day(client, url)
	response, err := client.DeleteRepo("gopher", "tracker")
	must(err, "delete a repository")
	check(response.StatusCode == http.StatusNoContent, "deleted with %d", response.StatusCode)
	_, response, err = client.GetRepo("gopher", "tracker")
	refused(response, err, http.StatusNotFound, "a repository that is gone")
}

// login makes a token with a password, and a client with the token.
func login(url, name, password string) *gitea.Client {
	basic, err := gitea.NewClient(url, gitea.SetBasicAuth(name, password))
	must(err, "first contact")
	version, _, err := basic.ServerVersion()
	must(err, "version")
	check(version != "", "no version")
	must(basic.CheckServerVersionConstraint(">= 1.25.0"), "a version new enough for everything the SDK can do")
	option := gitea.CreateAccessTokenOption{Name: "go", Scopes: []gitea.AccessTokenScope{gitea.AccessTokenScopeAll}}
	token, _, err := basic.CreateAccessToken(option)
	must(err, "make a token")
	check(len(token.Token) == 40, "the token is %q", token.Token)
	_, response, err := basic.CreateAccessToken(option)
	refused(response, err, http.StatusBadRequest, "a second token of that name")
	tokens, _, err := basic.ListAccessTokens(gitea.ListAccessTokensOptions{})
	must(err, "list tokens")
	check(len(tokens) >= 1 && tokens[0].Token == "", "tokens: %v", tokens)
	client, err := gitea.NewClient(url, gitea.SetToken(token.Token))
	must(err, "contact with a token")
	me, _, err := client.GetMyUserInfo()
	must(err, "who am I")
	check(me.UserName == name && me.IsAdmin, "I am %v", me)
	_, response, err = must2(gitea.NewClient(url, gitea.SetToken("0000000000000000000000000000000000000000"),
		gitea.SetGiteaVersion(""))).GetMyUserInfo()
	refused(response, err, http.StatusUnauthorized, "a token nobody has")
	return client
}

func must2(client *gitea.Client, err error) *gitea.Client {
	must(err, "contact")
	return client
}

// people makes two users as the administrator, and acts as one of them.
func people(client *gitea.Client, url string) {
	for _, name := range []string{"gopher", "mole"} {
		user, _, err := client.AdminCreateUser(gitea.CreateUserOption{
			Username: name, Email: name + "@example.org", Password: "burrow-burrow-9", MustChangePassword: pointer(false),
		})
		must(err, "make a user")
		check(user.UserName == name && user.ID > 0, "made %v", user)
	}
	_, response, err := client.AdminCreateUser(gitea.CreateUserOption{
		Username: "GOPHER", Email: "other@example.org", Password: "burrow-burrow-9",
	})
	refused(response, err, http.StatusUnprocessableEntity, "a user of that name")
	users, _, err := client.AdminListUsers(gitea.AdminListUsersOptions{})
	must(err, "list users")
	check(len(users) >= 3, "users: %d", len(users))
	client.SetSudo("gopher")
	me, _, err := client.GetMyUserInfo()
	must(err, "act as somebody")
	check(me.UserName == "gopher", "I act as %s", me.UserName)
	mole := must2(gitea.NewClient(url, gitea.SetBasicAuth("mole", "burrow-burrow-9")))
	_, response, err = mole.AdminListUsers(gitea.AdminListUsersOptions{})
	refused(response, err, http.StatusForbidden, "listing users without being an administrator")
}

// repository makes, finds, changes and shares one.
func repository(client *gitea.Client) {
	made, _, err := client.CreateRepo(gitea.CreateRepoOption{
		Name: "tracker", Description: "What is to be done", AutoInit: true, DefaultBranch: "main", Private: true,
	})
	must(err, "make a repository")
	check(made.FullName == "gopher/tracker" && made.Private && !made.Empty, "made %v", made)
	_, response, err := client.CreateRepo(gitea.CreateRepoOption{Name: "Tracker"})
	refused(response, err, http.StatusConflict, "a repository of that name")
	_, response, err = client.CreateRepo(gitea.CreateRepoOption{Name: "no/name"})
	refused(response, err, http.StatusUnprocessableEntity, "a repository without a good name")
	byID, _, err := client.GetRepoByID(made.ID)
	must(err, "find it by its number")
	check(byID.FullName == made.FullName, "found %s", byID.FullName)
	edited, _, err := client.EditRepo("gopher", "tracker", gitea.EditRepoOption{
		Description: pointer("Everything"), HasIssues: pointer(true),
		InternalTracker: &gitea.InternalTracker{EnableIssueDependencies: true},
	})
	must(err, "edit it")
	check(edited.Description == "Everything", "edited %s", edited.Description)
	_, err = client.AddCollaborator("gopher", "tracker", "mole", gitea.AddCollaboratorOption{
		Permission: pointer(gitea.AccessModeWrite),
	})
	must(err, "share it")
	permission, _, err := client.CollaboratorPermission("gopher", "tracker", "mole")
	must(err, "ask for a permission")
	check(permission.Permission == gitea.AccessModeWrite, "permission %v", permission)
	_, err = client.SetRepoTopics("gopher", "tracker", []string{"go", "lists"})
	must(err, "set topics")
	topics, _, err := client.ListRepoTopics("gopher", "tracker", gitea.ListRepoTopicsOptions{})
	must(err, "list topics")
	check(len(topics) == 2, "topics %v", topics)
	for number := range 5 {
		_, _, err := client.CreateRepo(gitea.CreateRepoOption{Name: fmt.Sprintf("small-%d", number)})
		must(err, "make many")
	}
	page := gitea.ListReposOptions{ListOptions: gitea.ListOptions{Page: 1, PageSize: 2}}
	seen := 0
	for {
		some, response, err := client.ListMyRepos(page)
		must(err, "list repositories")
		seen += len(some)
		if response.NextPage == 0 {
			break
		}
		check(response.LastPage == 3, "the last page is %d", response.LastPage)
		page.Page = response.NextPage
	}
	check(seen == 6, "paged through %d", seen)
	found, _, err := client.SearchRepos(gitea.SearchRepoOptions{Keyword: "SMALL"})
	must(err, "search")
	check(len(found) == 5, "found %d", len(found))
}

// organization makes one with a team, which gets a repository and a member.
func organization(client *gitea.Client) {
	made, _, err := client.CreateOrg(gitea.CreateOrgOption{Name: "burrow", FullName: "The Burrow"})
	must(err, "make an organization")
	check(made.Visibility == "public", "visibility %q", made.Visibility)
	_, response, err := client.CreateOrg(gitea.CreateOrgOption{Name: "Burrow"})
	refused(response, err, http.StatusUnprocessableEntity, "an organization of that name")
	_, _, err = client.CreateOrgRepo("burrow", gitea.CreateRepoOption{Name: "tunnels", Private: true, AutoInit: true})
	must(err, "make its repository")
	team, _, err := client.CreateTeam("burrow", gitea.CreateTeamOption{
		Name: "diggers", Permission: gitea.AccessModeWrite,
		Units: []gitea.RepoUnitType{gitea.RepoUnitCode, gitea.RepoUnitIssues},
	})
	must(err, "make a team")
	_, err = client.AddTeamRepository(team.ID, "burrow", "tunnels")
	must(err, "give it a repository")
	_, err = client.AddTeamMember(team.ID, "mole")
	must(err, "give it a member")
	members, _, err := client.ListTeamMembers(team.ID, gitea.ListTeamMembersOptions{})
	must(err, "list members")
	check(len(members) == 1 && members[0].UserName == "mole", "members %v", members)
	repositories, _, err := client.ListTeamRepositories(team.ID, gitea.ListTeamRepositoriesOptions{})
	must(err, "list the team's repositories")
	check(len(repositories) == 1, "repositories %v", repositories)
	teams, _, err := client.ListOrgTeams("burrow", gitea.ListTeamsOptions{})
	must(err, "list teams")
	check(len(teams) == 2, "teams %v", teams)
	is, _, err := client.CheckOrgMembership("burrow", "mole")
	must(err, "ask for a membership")
	check(is, "the mole is no member")
	organizations, _, err := client.ListMyOrgs(gitea.ListOrgsOptions{})
	must(err, "list organizations")
	check(len(organizations) == 1, "organizations %v", organizations)
	_, err = client.EditOrg("burrow", gitea.EditOrgOption{Description: "Below ground", Visibility: "limited"})
	must(err, "edit it")
	edited, _, err := client.GetOrg("burrow")
	must(err, "show it")
	check(edited.Description == "Below ground" && edited.Visibility == "limited", "edited %v", edited)
	hooks(client, "burrow", "tunnels")
	_, err = client.DeleteTeam(team.ID)
	must(err, "delete the team")
	_, err = client.DeleteRepo("burrow", "tunnels")
	must(err, "delete its repository")
	_, err = client.DeleteOrg("burrow")
	must(err, "delete the organization")
	_, response, err = client.GetOrg("burrow")
	refused(response, err, http.StatusNotFound, "an organization that is gone")
}

// code looks at branches, commits, trees, blobs and tags, and protects a branch.
func code(client *gitea.Client) {
	branches, _, err := client.ListRepoBranches("gopher", "tracker", gitea.ListRepoBranchesOptions{})
	must(err, "list branches")
	check(len(branches) == 1 && branches[0].Name == "main", "branches %v", branches)
	head := branches[0].Commit.ID
	made, _, err := client.CreateBranch("gopher", "tracker", gitea.CreateBranchOption{
		BranchName: "feature/wings", OldBranchName: "main",
	})
	must(err, "make a branch")
	check(made.Commit.ID == head, "the branch is at %s", made.Commit.ID)
	_, response, err := client.CreateBranch("gopher", "tracker", gitea.CreateBranchOption{BranchName: "feature/wings"})
	refused(response, err, http.StatusConflict, "a branch of that name")
	_, response, err = client.CreateBranch("gopher", "tracker", gitea.CreateBranchOption{
		BranchName: "x", OldBranchName: "nowhere",
	})
	refused(response, err, http.StatusNotFound, "a branch from nowhere")
	one, _, err := client.GetRepoBranch("gopher", "tracker", "feature/wings")
	must(err, "show a branch with a slash")
	check(one.UserCanPush, "the owner cannot push")
	commits, _, err := client.ListRepoCommits("gopher", "tracker", gitea.ListCommitOptions{SHA: "main", Files: true, Stat: true})
	must(err, "list commits")
	check(len(commits) == 1 && commits[0].SHA == head, "commits %v", commits)
	commit, _, err := client.GetSingleCommit("gopher", "tracker", head)
	must(err, "show a commit")
	check(commit.RepoCommit.Message != "" && len(commit.Files) >= 1, "commit %v", commit)
	tree, _, err := client.GetTrees("gopher", "tracker", gitea.ListTreeOptions{Ref: "main", Recursive: true})
	must(err, "show a tree")
	check(len(tree.Entries) >= 1, "tree %v", tree)
	blob, _, err := client.GetBlob("gopher", "tracker", tree.Entries[0].SHA)
	must(err, "show a blob")
	check(blob.Encoding == "base64", "blob %v", blob)
	tag, _, err := client.CreateTag("gopher", "tracker", gitea.CreateTagOption{TagName: "v1", Message: "One", Target: "main"})
	must(err, "make a tag")
	check(tag.Name == "v1", "tag %v", tag)
	tags, _, err := client.ListRepoTags("gopher", "tracker", gitea.ListRepoTagsOptions{})
	must(err, "list tags")
	check(len(tags) == 1 && tags[0].Commit.SHA == head, "tags %v", tags)
	references, _, err := client.GetRepoRefs("gopher", "tracker", "heads")
	must(err, "list references")
	check(len(references) == 2, "references %v", references)
	compared, _, err := client.CompareCommits("gopher", "tracker", "main", "feature/wings")
	must(err, "compare")
	check(compared.TotalCommits == 0, "compared %v", compared)
	rule, _, err := client.CreateBranchProtection("gopher", "tracker", gitea.CreateBranchProtectionOption{
		RuleName: "main", EnablePush: true, EnablePushWhitelist: true, PushWhitelistUsernames: []string{"gopher"},
	})
	must(err, "protect a branch")
	check(rule.RuleName == "main" && len(rule.PushWhitelistUsernames) == 1, "rule %v", rule)
	rules, _, err := client.ListBranchProtections("gopher", "tracker", gitea.ListBranchProtectionsOptions{})
	must(err, "list rules")
	check(len(rules) == 1, "rules %v", rules)
	_, err = client.DeleteBranchProtection("gopher", "tracker", "main")
	must(err, "delete the rule")
	_, response, err = client.DeleteRepoBranch("gopher", "tracker", "main")
	check(err != nil || response.StatusCode == http.StatusForbidden, "the default branch can be deleted")
	is, _, err := client.DeleteRepoBranch("gopher", "tracker", "feature/wings")
	must(err, "delete a branch")
	check(is, "the branch is not deleted")
}

// issues makes some with labels, a milestone, assignees and comments, and finds them by each.
func issues(client *gitea.Client) {
	label, _, err := client.CreateLabel("gopher", "tracker", gitea.CreateLabelOption{Name: "bug", Color: "#ee0701"})
	must(err, "make a label")
	other, _, err := client.CreateLabel("gopher", "tracker", gitea.CreateLabelOption{Name: "wish", Color: "#00aabb"})
	must(err, "make another label")
	milestone, _, err := client.CreateMilestone("gopher", "tracker", gitea.CreateMilestoneOption{
		Title: "First release", Description: "Soon", State: gitea.StateOpen,
	})
	must(err, "make a milestone")
	byName, _, err := client.GetMilestoneByName("gopher", "tracker", "First release")
	must(err, "find a milestone by its name")
	check(byName.ID == milestone.ID, "found %v", byName)
	issue, _, err := client.CreateIssue("gopher", "tracker", gitea.CreateIssueOption{
		Title: "It is dark", Body: "Bring a lamp", Assignees: []string{"mole"}, Labels: []int64{label.ID},
		Milestone: milestone.ID,
	})
	must(err, "make an issue")
	check(issue.Index == 1 && issue.Milestone.ID == milestone.ID && issue.Labels[0].ID == label.ID, "made %v", issue)
	check(len(issue.Assignees) == 1 && issue.Assignees[0].UserName == "mole", "assigned to %v", issue.Assignees)
	for number := range 4 {
		_, _, err := client.CreateIssue("gopher", "tracker", gitea.CreateIssueOption{Title: fmt.Sprintf("Wish %d", number)})
		must(err, "make many issues")
	}
	_, response, err := client.CreateIssue("gopher", "tracker", gitea.CreateIssueOption{Title: "x", Assignees: []string{"nobody"}})
	refused(response, err, http.StatusUnprocessableEntity, "an issue assigned to nobody")
	page, response, err := client.ListRepoIssues("gopher", "tracker", gitea.ListIssueOption{
		ListOptions: gitea.ListOptions{Page: 1, PageSize: 2}, State: gitea.StateOpen, Type: gitea.IssueTypeIssue,
	})
	must(err, "list issues")
	check(len(page) == 2 && response.LastPage == 3, "a page of %d of %d", len(page), response.LastPage)
	for doing, option := range map[string]gitea.ListIssueOption{
		"by label": {Labels: []string{"bug"}}, "by milestone": {Milestones: []string{"First release"}},
		"by word": {KeyWord: "lamp"}, "by assignee": {AssignedBy: "mole"},
	} {
		found, _, err := client.ListRepoIssues("gopher", "tracker", option)
		must(err, doing)
		check(len(found) == 1 && found[0].Index == 1, "%s: %d", doing, len(found))
	}
	labels, _, err := client.AddIssueLabels("gopher", "tracker", 1, gitea.IssueLabelsOption{Labels: []int64{other.ID}})
	must(err, "add a label")
	check(len(labels) == 2, "labels %v", labels)
	labels, _, err = client.ReplaceIssueLabels("gopher", "tracker", 1, gitea.IssueLabelsOption{Labels: []int64{other.ID}})
	must(err, "replace labels")
	check(len(labels) == 1 && labels[0].ID == other.ID, "labels %v", labels)
	_, err = client.DeleteIssueLabel("gopher", "tracker", 1, other.ID)
	must(err, "take a label away")
	comment, _, err := client.CreateIssueComment("gopher", "tracker", 1, gitea.CreateIssueCommentOption{Body: "Which one?"})
	must(err, "comment")
	_, _, err = client.EditIssueComment("gopher", "tracker", comment.ID, gitea.EditIssueCommentOption{Body: "Which lamp?"})
	must(err, "edit the comment")
	comments, _, err := client.ListIssueComments("gopher", "tracker", 1, gitea.ListIssueCommentOptions{})
	must(err, "list comments")
	check(len(comments) == 1 && comments[0].Body == "Which lamp?", "comments %v", comments)
	edited, _, err := client.EditIssue("gopher", "tracker", 1, gitea.EditIssueOption{
		Title: "It is bright", State: pointer(gitea.StateClosed),
	})
	must(err, "close it")
	check(edited.State == gitea.StateClosed && edited.Title == "It is bright" && edited.Closed != nil, "edited %v", edited)
	// One that never had a label: the SDK takes the label of an entry for a list, which no server sends.
	_, _, err = client.EditIssue("gopher", "tracker", 3, gitea.EditIssueOption{Title: "A wish", State: pointer(gitea.StateClosed)})
	must(err, "close another")
	timeline, _, err := client.ListIssueTimeline("gopher", "tracker", 3, gitea.ListIssueCommentOptions{})
	must(err, "look back")
	check(len(timeline) == 2, "timeline of %d", len(timeline))
	_, err = client.DeleteIssueComment("gopher", "tracker", comment.ID)
	must(err, "delete the comment")
	_, err = client.DeleteIssue("gopher", "tracker", 2)
	must(err, "delete an issue")
	_, response, err = client.GetIssue("gopher", "tracker", 2)
	refused(response, err, http.StatusNotFound, "an issue that is gone")
	_, err = client.DeleteMilestone("gopher", "tracker", milestone.ID)
	must(err, "delete the milestone")
	dependencies(client)
}

// dependencies lets issues wait for each other; this client sends nothing but the other's number.
func dependencies(client *gitea.Client) {
	waiting, _, err := client.CreateIssueDependency("gopher", "tracker", 4, gitea.IssueMeta{Index: 5})
	must(err, "let an issue wait")
	check(waiting.Index == 4, "waiting %v", waiting)
	_, _, err = client.CreateIssueBlocking("gopher", "tracker", 5, gitea.IssueMeta{Index: 1})
	must(err, "let an issue block another")
	blockers, response, err := client.ListIssueDependencies("gopher", "tracker", 4, gitea.ListIssueDependenciesOptions{})
	must(err, "list what blocks an issue")
	check(len(blockers) == 1 && blockers[0].Index == 5, "blockers %v", blockers)
	check(response.Header.Get("X-Total-Count") == "1", "counted %s", response.Header.Get("X-Total-Count"))
	blocked, _, err := client.ListIssueBlocks("gopher", "tracker", 5, gitea.ListIssueBlocksOptions{})
	must(err, "list what an issue blocks")
	check(len(blocked) == 2, "blocked %v", blocked)
	_, response, err = client.CreateIssueDependency("gopher", "tracker", 5, gitea.IssueMeta{Index: 4})
	refused(response, err, http.StatusConflict, "a circle")
	_, response, err = client.EditIssue("gopher", "tracker", 4, gitea.EditIssueOption{
		Title: "Wish 2", State: pointer(gitea.StateClosed),
	})
	refused(response, err, http.StatusPreconditionFailed, "closing while something blocks")
	_, _, err = client.RemoveIssueDependency("gopher", "tracker", 4, gitea.IssueMeta{Index: 5})
	must(err, "let an issue wait no more")
	_, _, err = client.RemoveIssueBlocking("gopher", "tracker", 5, gitea.IssueMeta{Index: 1})
	must(err, "let an issue block no more")
	_, response, err = client.RemoveIssueBlocking("gopher", "tracker", 5, gitea.IssueMeta{Index: 1})
	refused(response, err, http.StatusNotFound, "a relation that is gone")
}

// hooks makes, lists, shows, changes and removes webhooks wherever they can be at home.
func hooks(client *gitea.Client, org, repo string) {
	option := gitea.CreateHookOption{
		Type:         gitea.HookTypeGitea,
		Config:       map[string]string{"url": "https://ci.example.org/h", "content_type": "json", "secret": "carrot"},
		Events:       []string{"push", "create"},
		BranchFilter: "main",
		Active:       true,
	}
	wrong := option
	wrong.Config = map[string]string{"url": "burrow", "content_type": "json"}
	list := gitea.ListHooksOptions{ListOptions: gitea.ListOptions{Page: 1, PageSize: 10}}
	homes := []struct {
		create func(gitea.CreateHookOption) (*gitea.Hook, *gitea.Response, error)
		list   func() ([]*gitea.Hook, *gitea.Response, error)
		show   func(int64) (*gitea.Hook, *gitea.Response, error)
		edit   func(int64, gitea.EditHookOption) (*gitea.Response, error)
		remove func(int64) (*gitea.Response, error)
	}{
		{
			func(option gitea.CreateHookOption) (*gitea.Hook, *gitea.Response, error) {
				return client.CreateOrgHook(org, option)
			},
			func() ([]*gitea.Hook, *gitea.Response, error) { return client.ListOrgHooks(org, list) },
			func(id int64) (*gitea.Hook, *gitea.Response, error) { return client.GetOrgHook(org, id) },
			func(id int64, option gitea.EditHookOption) (*gitea.Response, error) {
				return client.EditOrgHook(org, id, option)
			},
			func(id int64) (*gitea.Response, error) { return client.DeleteOrgHook(org, id) },
		},
		{
			func(option gitea.CreateHookOption) (*gitea.Hook, *gitea.Response, error) {
				return client.CreateRepoHook(org, repo, option)
			},
			func() ([]*gitea.Hook, *gitea.Response, error) { return client.ListRepoHooks(org, repo, list) },
			func(id int64) (*gitea.Hook, *gitea.Response, error) { return client.GetRepoHook(org, repo, id) },
			func(id int64, option gitea.EditHookOption) (*gitea.Response, error) {
				return client.EditRepoHook(org, repo, id, option)
			},
			func(id int64) (*gitea.Response, error) { return client.DeleteRepoHook(org, repo, id) },
		},
		{
			client.CreateMyHook,
			func() ([]*gitea.Hook, *gitea.Response, error) { return client.ListMyHooks(list) },
			client.GetMyHook,
			client.EditMyHook,
			client.DeleteMyHook,
		},
	}
	for _, home := range homes {
		made, _, err := home.create(option)
		must(err, "make a hook")
		check(made.Active && made.BranchFilter == "main" && len(made.Events) == 2, "made %v", made)
		check(made.Config["url"] == option.Config["url"] && made.Config["secret"] == "", "config %v", made.Config)
		_, response, err := home.create(wrong)
		refused(response, err, http.StatusUnprocessableEntity, "a hook without an address")
		listed, _, err := home.list()
		must(err, "list hooks")
		check(len(listed) == 1 && listed[0].ID == made.ID, "hooks %v", listed)
		_, err = home.edit(made.ID, gitea.EditHookOption{Active: pointer(false), BranchFilter: "side"})
		must(err, "edit it")
		shown, _, err := home.show(made.ID)
		must(err, "show it")
		check(!shown.Active && shown.BranchFilter == "side" && len(shown.Events) == 2, "shown %v", shown)
		_, err = home.remove(made.ID)
		must(err, "remove it")
		_, response, err = home.show(made.ID)
		refused(response, err, http.StatusNotFound, "a hook that is gone")
	}
}
