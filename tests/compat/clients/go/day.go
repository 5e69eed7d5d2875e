package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"code.gitea.io/sdk/gitea"
)

// day is a whole working day: an issue, a branch, files, a pull request, its review, a status, the merge and a release.
func day(client *gitea.Client, url string) {
	owner, repo := "gopher", "tracker"
	colleague := must2(gitea.NewClient(url, gitea.SetBasicAuth("mole", "burrow-burrow-9")))
	issue, _, err := client.CreateIssue(owner, repo, gitea.CreateIssueOption{Title: "The tunnel is too short"})
	must(err, "make an issue")
	_, _, err = client.CreateBranch(owner, repo, gitea.CreateBranchOption{BranchName: "dig", OldBranchName: "main"})
	must(err, "make a branch")
	for number := range 3 {
		made, _, err := client.CreateFile(owner, repo, fmt.Sprintf("tunnel/part-%d.txt", number), gitea.CreateFileOptions{
			FileOptions: gitea.FileOptions{Message: "Dig", BranchName: "dig"},
			Content:     base64.StdEncoding.EncodeToString([]byte("earth\nstones\n")),
		})
		must(err, "make a file")
		check(made.Content.Type == "file" && made.Commit.SHA != "", "made %v", made)
	}
	pull, _, err := client.CreatePullRequest(owner, repo, gitea.CreatePullRequestOption{
		Head: "dig", Base: "main", Title: "Dig further", Body: fmt.Sprintf("Closes #%d", issue.Index),
	})
	must(err, "open a pull request")
	check(pull.Head.Ref == "dig" && pull.Base.Ref == "main" && !pull.HasMerged, "opened %v", pull)
	files, _, err := client.ListPullRequestFiles(owner, repo, pull.Index, gitea.ListPullRequestFilesOptions{})
	must(err, "list its files")
	check(len(files) == 3 && files[0].Status == "added" && files[0].Additions == 2, "files %v", files)
	review, _, err := colleague.CreatePullReview(owner, repo, pull.Index, gitea.CreatePullReviewOptions{
		State: gitea.ReviewStateApproved, Body: "Deep enough", CommitID: pull.Head.Sha,
		Comments: []gitea.CreatePullReviewComment{{Path: "tunnel/part-0.txt", Body: "Mind the stones", NewLineNum: 2}},
	})
	must(err, "review it")
	check(review.State == gitea.ReviewStateApproved && review.CodeCommentsCount == 1, "review %v", review)
	_, response, err := client.CreatePullReview(owner, repo, pull.Index, gitea.CreatePullReviewOptions{State: gitea.ReviewStateApproved})
	refused(response, err, http.StatusUnprocessableEntity, "approving one's own pull request")
	reviews, _, err := client.ListPullReviews(owner, repo, pull.Index, gitea.ListPullReviewsOptions{})
	must(err, "list reviews")
	check(len(reviews) == 1 && reviews[0].Reviewer.UserName == "mole", "reviews %v", reviews)
	_, _, err = client.CreateStatus(owner, repo, pull.Head.Sha, gitea.CreateStatusOption{
		State: gitea.StatusSuccess, Context: "ci/build", Description: "It holds", TargetURL: "https://ci.example.org/1",
	})
	must(err, "set a status")
	status, _, err := client.GetCombinedStatus(owner, repo, pull.Head.Sha)
	must(err, "show the status")
	check(status.State == gitea.StatusSuccess && status.TotalCount == 1, "status %v", status)
	merged, _, err := client.IsPullRequestMerged(owner, repo, pull.Index)
	must(err, "ask whether it is merged")
	check(!merged, "merged too early")
	merged, _, err = client.MergePullRequest(owner, repo, pull.Index, gitea.MergePullRequestOption{
		Style: gitea.MergeStyleSquash, Title: "Dig further", HeadCommitId: pull.Head.Sha,
	})
	must(err, "merge it")
	check(merged, "not merged")
	done, _, err := client.GetPullRequest(owner, repo, pull.Index)
	must(err, "show it")
	check(done.HasMerged && done.State == gitea.StateClosed && done.MergedBy.UserName == owner, "merged %v", done)
	closed, _, err := client.GetIssue(owner, repo, issue.Index)
	must(err, "show the issue")
	check(closed.State == gitea.StateClosed, "the issue is %s", closed.State)
	release, _, err := client.CreateRelease(owner, repo, gitea.CreateReleaseOption{
		TagName: "v2.0", Target: "main", Title: "Two", Note: "A longer tunnel",
	})
	must(err, "make a release")
	asset, _, err := client.CreateReleaseAttachment(owner, repo, release.ID, strings.NewReader("a map"), "map.txt")
	must(err, "add an asset")
	check(asset.Name == "map.txt" && asset.Size == 5, "asset %v", asset)
	latest, _, err := client.GetLatestRelease(owner, repo)
	must(err, "show the latest release")
	check(latest.TagName == "v2.0" && len(latest.Attachments) == 1, "latest %v", latest)
	is, _, err := client.DeleteRepoBranch(owner, repo, "dig")
	must(err, "delete the branch")
	check(is, "the branch is not deleted")
}
