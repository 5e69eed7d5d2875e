"""The notifications page, and the bell that links to it."""

import re

import httpx
import pytest
from sqlalchemy import update

from holdfast.hosting.store import notifications as store
from holdfast.hosting.store.tables import notifications as table
from holdfast.web import notifications
from tests.hosting.api_clients import ServiceClients
from tests.hosting.dependency_helpers import counting_queries
from tests.web.browser import visitor

NUMBER = re.compile(r'action="/notifications/(\d+)"')


def titles(response: httpx.Response) -> list[str]:
    """Return the titles of the threads on a page, in order."""
    assert response.status_code == 200, response.text
    return re.findall(r'class="title" href="[^"]*"><bdi>(.*?)</bdi>', response.text)


def bell(response: httpx.Response) -> str:
    """Return the label of the bell."""
    hits = re.search(r'class="bell" href="/notifications" aria-label="([^"]*)"', response.text)
    assert hits is not None
    return hits[1]


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Return a browser client of Ada, who gets the notifications."""
    clients.user("ada")
    return visitor(clients, "ada")


@pytest.fixture
def eve(clients: ServiceClients) -> httpx.Client:
    """Return an API client of Eve, who causes the notifications."""
    return clients.user("eve")


def open_issues(clients: ServiceClients, eve: httpx.Client, *names: str, repository: str = "ship") -> None:
    """Open issues of Eve in a new repository, which Ada watches."""
    response = clients.admin.post("/admin/users/ada/repos", json={"name": repository, "auto_init": True})
    assert response.status_code == 201
    visitor(clients, "ada").post(f"/ada/{repository}/watch", data={"add": "true"})
    for name in names:
        assert eve.post(f"/repos/ada/{repository}/issues", json={"title": name}).status_code == 201


def test_threads_are_listed_by_repository(clients: ServiceClients, ada: httpx.Client, eve: httpx.Client) -> None:
    """The latest come first, lists are filtered by status, and other users cannot change a thread."""
    open_issues(clients, eve, "Leak", "Sail")
    open_issues(clients, eve, "Rope", repository="dock")
    page = ada.get("/notifications")
    assert titles(page) == ["Rope", "Sail", "Leak"]
    assert page.text.index("ada/dock</a></h2>") < page.text.index("Rope") < page.text.index("ada/ship</a></h2>")
    assert page.text.count("<section") == 2
    assert 'href="/ada/ship/issues/2"' in page.text
    rope, sail, leak = NUMBER.findall(page.text)
    assert ada.post(f"/notifications/{sail}", data={"status": "read"}).headers["location"] == "/notifications"
    assert ada.post(f"/notifications/{leak}", data={"status": "pinned"}).status_code == 303
    assert titles(ada.get("/notifications?show=unread")) == ["Rope"]
    assert titles(ada.get("/notifications?show=read")) == ["Sail"]
    assert titles(ada.get("/notifications?show=pinned")) == ["Leak"]
    assert titles(ada.get("/notifications?show=all")) == ["Rope", "Sail", "Leak"]
    assert titles(ada.get("/notifications?show=x")) == ["Rope"]
    back = ada.post(f"/notifications/{sail}", data={"status": "unread", "show": "read", "page": "2"})
    assert back.headers["location"] == "/notifications?show=read&page=2"
    assert titles(ada.get("/notifications")) == ["Rope", "Sail"]
    other = visitor(clients, "eve")
    assert "You have no unread notifications" in other.get("/notifications").text
    assert other.post(f"/notifications/{rope}", data={"status": "read"}).status_code == 404
    assert titles(ada.get("/notifications")) == ["Rope", "Sail"]


def test_the_bell_counts_what_is_unread(
    clients: ServiceClients, ada: httpx.Client, eve: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count has a limit; a missing page shows no count, and a visitor has no bell."""
    open_issues(clients, eve, "Leak", "Sail", "Rope")
    assert bell(ada.get("/ada")) == "Notifications: 3 unread"
    assert bell(ada.get("/nobody/nothing")) == "Notifications"
    assert "bell" not in visitor(clients).get("/ada").text
    monkeypatch.setattr(store, "MOST_COUNTED", 2)
    eve.post("/repos/ada/ship/issues", json={"title": "Mast"})
    assert bell(ada.get("/ada")) == "Notifications: 2 unread"


def test_opening_an_issue_marks_its_thread_as_read(
    clients: ServiceClients, ada: httpx.Client, eve: httpx.Client
) -> None:
    """A prefetch and a HEAD request do not count, and what is pinned stays pinned."""
    open_issues(clients, eve, "Leak", "Sail")
    comment = eve.post("/repos/ada/ship/issues/1/comments", json={"body": "Wet"}).json()["id"]
    assert f'href="/ada/ship/issues/1?comment={comment}"' in ada.get("/notifications").text
    ada.head("/ada/ship/issues/1")
    ada.get("/ada/ship/issues/1", headers={"Sec-Purpose": "prefetch;prerender"})
    assert bell(ada.get("/ada")) == "Notifications: 2 unread"
    assert bell(ada.get("/ada/ship/issues/1")) == "Notifications: 1 unread"
    assert titles(ada.get("/notifications")) == ["Sail"]
    (sail,) = NUMBER.findall(ada.get("/notifications").text)
    ada.post(f"/notifications/{sail}", data={"status": "pinned"})
    ada.get("/ada/ship/issues/2")
    assert titles(ada.get("/notifications?show=pinned")) == ["Sail"]
    assert titles(ada.get("/notifications?show=read")) == ["Leak"]
    visitor(clients).get("/ada/ship/issues/2")


def test_all_are_marked_up_to_the_time_of_the_page(
    clients: ServiceClients, ada: httpx.Client, eve: httpx.Client
) -> None:
    """All threads or those of a repository are marked as read, except later ones."""
    open_issues(clients, eve, "Leak", "Sail")
    open_issues(clients, eve, "Rope", repository="dock")
    with clients.database.write() as connection:
        connection.execute(update(table).values(updated_at=1000 + table.c.id))
    page = ada.get("/notifications").text
    newest = max(int(number) for number in NUMBER.findall(page))
    ship = re.search(r'name="repository" value="(\d+)"><button[^>]*all of ada/ship', page)
    assert ship is not None
    ada.post("/notifications", data={"repository": ship[1]})
    assert titles(ada.get("/notifications")) == ["Rope"]
    ada.post("/notifications", data={"before": str(999 + newest)})
    assert titles(ada.get("/notifications")) == ["Rope"]
    assert ada.post("/notifications", data={"before": str(1000 + newest)}).headers["location"] == "/notifications"
    assert "Notifications marked as read." in ada.get("/notifications").text
    assert titles(ada.get("/notifications?show=read")) == ["Rope", "Sail", "Leak"]
    assert "Mark all as read" not in ada.get("/notifications?show=read").text


def test_an_invalid_number_or_status_is_refused(
    clients: ServiceClients, ada: httpx.Client, eve: httpx.Client
) -> None:
    """Invalid ids, statuses and page numbers change nothing; visitors are redirected to log in."""
    open_issues(clients, eve, "Leak")
    (leak,) = NUMBER.findall(ada.get("/notifications").text)
    assert ada.post(f"/notifications/{leak}", data={"status": "gone"}).status_code == 422
    assert ada.post("/notifications/x", data={"status": "read"}).status_code == 404
    assert ada.post("/notifications", data={"repository": "9" * 30, "before": "²"}).status_code == 303
    assert titles(ada.get("/notifications?page=9999999999")) == []
    assert titles(ada.get("/notifications")) == ["Leak"]
    assert visitor(clients).get("/notifications").headers["location"] == "/login?next=%2Fnotifications"
    stranger = visitor(clients).post("/notifications", data={})
    assert stranger.headers["location"].startswith("/login")


def test_a_long_list_has_pages_and_few_queries(
    clients: ServiceClients, ada: httpx.Client, eve: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of queries does not depend on the number of threads and repositories."""
    monkeypatch.setattr(notifications, "SIZE", 3)
    open_issues(clients, eve, "One")

    def queries() -> int:
        counts = []
        for _ in range(3):
            with counting_queries(clients.database, monkeypatch) as asked:
                ada.get("/notifications")
            counts.append(len(asked))
        return min(counts)

    few = queries()
    open_issues(clients, eve, "Two", repository="dock")
    open_issues(clients, eve, "Three", "Four", repository="mole")
    assert titles(ada.get("/notifications")) == ["Four", "Three", "Two"]
    assert 'rel="next" href="/notifications?show=unread&amp;page=2"' in ada.get("/notifications").text
    assert titles(ada.get("/notifications?page=2")) == ["One"]
    assert "Show the first page" in ada.get("/notifications?page=3").text
    assert queries() == few <= 10


def test_more_than_the_limit_is_shown_as_such(
    clients: ServiceClients, ada: httpx.Client, eve: httpx.Client
) -> None:
    """The bell counts up to 99 and then shows 99+."""
    open_issues(clients, eve, *(str(number) for number in range(store.MOST_COUNTED - 1)))
    assert '<span class="count" aria-hidden="true">99</span>' in ada.get("/ada").text
    eve.post("/repos/ada/ship/issues", json={"title": "Mast"})
    page = ada.get("/ada")
    assert bell(page) == "Notifications: more than 99 unread"
    assert '<span class="count" aria-hidden="true">99+</span>' in page.text


def test_a_transfer_leads_to_the_home_page(clients: ServiceClients) -> None:
    """The thread links to the home page, and opening that page marks the thread as read."""
    owner, _ = clients.user("ada"), clients.user("eve")
    owner.post("/user/repos", json={"name": "ship"})
    moved = owner.post("/repos/ada/ship/transfer", json={"new_owner": "eve"})
    assert moved.status_code == 202, moved.text
    eve = visitor(clients, "eve")
    assert bell(eve.get("/ada")) == "Notifications: 1 unread"
    page = eve.get("/notifications")
    assert titles(page) == ["Transfer of ada/ship"]
    assert 'href="/#transfers"' in page.text
    assert bell(eve.get("/")) == "Notifications"
    assert titles(eve.get("/notifications?show=read")) == ["Transfer of ada/ship"]
