"""Templates: escaping, notices, times and the 404 page."""

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.web import pages
from holdfast.web.pages import NOTICES, Pages, time_ago
from tests.conftest import Service


def test_an_unknown_path_is_a_404_page_with_links(service: Service) -> None:
    """A request that accepts HTML gets a page with a link to the home page."""
    with service.client() as client:
        response = client.get("/nothing/here", headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert 'href="/"' in response.text


def test_names_cannot_become_markup(database: Database) -> None:
    """The full name of a user is escaped."""
    name = "<script>alert(1)</script>"
    user = accounts.create_user(database, "x", Secret("long enough"), full_name=name)
    body = bytes(Pages().render("not_found.html", user=user, title="Not found", repository="").body).decode()
    assert "<script>" not in body
    assert "&lt;script&gt;" in body


def test_a_misspelt_name_in_a_template_is_an_error() -> None:
    """An undefined variable raises an error instead of rendering as nothing."""
    with pytest.raises(UndefinedError):
        Pages().render("login.html", user=None, title="Log in")


def test_a_page_cannot_hide_what_all_pages_share() -> None:
    """A value of a page with the name of the service's version would be shown in the footer."""
    with pytest.raises(LookupError, match=r"not_found\.html has a value .* share: version"):
        Pages().render("not_found.html", user=None, title="Not found", repository="", version="7")


def test_a_notice_has_a_subject_exactly_where_its_text_has_a_placeholder() -> None:
    """A redirect without the subject of its notice would show an incomplete sentence."""
    redirects = 0
    for path in Path(pages.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id != "redirect_to":
                continue
            if len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                text = NOTICES[str(node.args[1].value)]
                assert (len(node.args) == 3) == ("{}" in text), f"{path}:{node.lineno}"
                redirects += 1
    assert redirects > 20


@pytest.mark.parametrize(
    ("cookie", "text"),
    [
        ("repository-created:northshore%2Fboats", "Repository northshore/boats created."),
        ("webhook-deleted:", "Webhook deleted."),
        ("unknown:northshore", ""),
        (f"repository-created:{'x' * 5000}", f"Repository {'x' * 100} created."),
        ("repository-created:%ff", "Repository \ufffd created."),
    ],
)
def test_a_notice_is_a_known_sentence_about_a_short_subject(cookie: str, text: str) -> None:
    """The cookie is not signed, so an unknown key shows no notice and a long subject is truncated."""
    assert pages.notice_text(cookie) == text


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, ""),
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7199, "1 hour ago"),
        (7200, "2 hours ago"),
        (86_400, "1 day ago"),
        (30 * 86_400 - 1, "29 days ago"),
        (30 * 86_400, ""),
    ],
)
def test_a_recent_time_is_shown_as_its_age(seconds: int, expected: str) -> None:
    """A time in the future or more than 30 days ago has no age."""
    now = datetime(2030, 6, 1, 12, tzinfo=UTC)
    assert time_ago(now - timedelta(seconds=seconds), now) == expected
