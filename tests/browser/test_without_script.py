"""Pull requests in a mobile browser without JavaScript: everything is links and forms."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from tests.conftest import Service

PASSWORD = "long enough"
REPOSITORY = "/ada/tides"


@contextmanager
def logged_in(browser: Browser, site: Service, name: str) -> Iterator[Page]:
    """Open a phone's browser without JavaScript, and log in."""
    context = browser.new_context(java_script_enabled=False, viewport=ViewportSize(width=390, height=844))
    page = context.new_page()
    page.goto(f"{site.url}/login")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name=f"Welcome, {name}")).to_be_visible()
    yield page
    context.close()


def write_file(page: Page, path: str, content: str, *, branch: str = "") -> None:
    """Create a file on the default branch, or on a new one."""
    page.get_by_text("Add file").click()
    page.get_by_role("link", name="New file").click()
    page.get_by_label("Path").fill(path)
    page.get_by_label("Content").fill(content)
    if branch:
        page.get_by_label("Create a new branch for this commit").check()
        page.get_by_label("Name of the new branch").fill(branch)
    page.get_by_role("button", name="Commit", exact=True).click()


@pytest.mark.timeout(300)
def test_a_pull_request_is_opened_reviewed_and_merged_without_scripts(site: Service, browser: Browser) -> None:
    """Two users get from a new repository to a reviewed and merged pull request without JavaScript."""
    for name in ("ada", "bob"):
        accounts.create_user(site.database, name, Secret(PASSWORD))
    with logged_in(browser, site, "ada") as ada, logged_in(browser, site, "bob") as bob:
        ada.get_by_role("link", name="New repository").first.click()
        ada.get_by_label("Name", exact=True).fill("tides")
        ada.get_by_role("button", name="Create repository").click()
        expect(ada.get_by_text("Repository ada/tides created.")).to_be_visible()
        write_file(ada, "table.py", "first = 1\nsecond = 2\n")
        ada.goto(f"{site.url}{REPOSITORY}/settings/collaborators")
        ada.get_by_label("Username").fill("bob")
        ada.get_by_role("button", name="Add collaborator").click()

        bob.goto(f"{site.url}{REPOSITORY}/issues/new")
        bob.get_by_label("Title").fill("The third is missing")
        bob.get_by_role("button", name="Open issue").click()
        expect(bob.get_by_role("heading", name="The third is missing #1")).to_be_visible()

        ada.goto(f"{site.url}{REPOSITORY}")
        write_file(ada, "third.py", "third = 3\n", branch="add-third")
        ada.goto(f"{site.url}{REPOSITORY}")
        ada.get_by_role("link", name="Compare & pull request").click()
        ada.get_by_label("Title").fill("Add the third")
        ada.get_by_label("Description").fill("Fixes #1")
        ada.get_by_label("Reviewers").fill("bob")
        ada.get_by_role("button", name="Create pull request").click()
        expect(ada.get_by_role("heading", name="Add the third #2")).to_be_visible()

        suggest(bob, site)
        ada.goto(f"{site.url}{REPOSITORY}/pulls/2")
        ada.get_by_role("button", name="Apply suggestion").click()
        expect(ada.get_by_text("Suggestion applied to third.py.")).to_be_visible()

        bob.goto(f"{site.url}{REPOSITORY}/pulls/2/files")
        bob.get_by_text("Review changes").click()
        bob.get_by_label("Approve").check()
        bob.get_by_role("button", name="Submit review").click()
        expect(bob.get_by_text("approved these changes").first).to_be_visible()

        ada.goto(f"{site.url}{REPOSITORY}/pulls/2")
        ada.get_by_role("button", name="Merge pull request").click()
        expect(ada.get_by_text("Pull request merged.")).to_be_visible()
        ada.goto(f"{site.url}{REPOSITORY}/raw/branch/main/third.py")
        assert ada.locator("body").inner_text().strip() == "third: int = 3"
        bob.goto(f"{site.url}{REPOSITORY}/issues/1")
        expect(bob.get_by_role("img", name="Closed issue")).to_be_visible()


def suggest(page: Page, site: Service) -> None:
    """Comment on a line with a suggestion."""
    page.goto(f"{site.url}/notifications")
    page.get_by_role("link", name="Add the third").click()
    page.get_by_role("link", name="Files changed").click()
    page.get_by_role("button", name="Comment on line 1", exact=True).click()
    page.get_by_role("textbox", name="Comment on line 1").fill("```suggestion\nthird: int = 3\n```")
    page.get_by_role("button", name="Add single comment").click()
    expect(page.get_by_text("third: int = 3").first).to_be_visible()
