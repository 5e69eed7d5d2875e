"""The reviewers of a pull request."""

from tests.web.pulls.conftest import AT, PullSite


def test_reviews_are_requested_and_may_be_declined(site: PullSite) -> None:
    """Unknown names and the author are refused with a reason."""
    site.open_pull()
    ada, bob = site.browser("ada"), site.browser("bob")
    assert ada.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "nobody"}).status_code in {404, 422}
    refused = ada.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "ada"})
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert site.api["ada"].get("/repos/ada/tides/pulls/1").json()["requested_reviewers"] == []
    assert ada.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "bob"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "was asked to review" in text
    assert "Review requested from bob." in text
    assert bob.post(f"{AT}/pulls/1/reviewers", data={"reviewer": "bob", "then": "remove"}).status_code == 303
    assert "was asked to review" not in ada.get(f"{AT}/pulls/1").text
    assert bob.post(f"{AT}/pulls/1/reviews", data={"event": "APPROVED"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "approved these changes" in text
    assert "Re-request" in text
    review = site.api["ada"].get("/repos/ada/tides/pulls/1/reviews").json()[0]["id"]
    assert bob.post(f"{AT}/pulls/1/reviews/{review}/dismiss", data={"message": "Old"}).status_code == 403
    assert ada.post(f"{AT}/pulls/1/reviews/{review}/dismiss", data={"message": "Old"}).status_code == 303
    text = ada.get(f"{AT}/pulls/1").text
    assert "dismissed a review: <bdi>Old</bdi>" in text
