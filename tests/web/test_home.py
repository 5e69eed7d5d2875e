"""The first page."""

from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from tests.backup.streams import HEADER, record
from tests.backup.streams import empty_frame as frame
from tests.conftest import Service


def test_strangers_see_what_this_is_and_nothing_else(service: Service) -> None:
    """Nobody learns what backups there are without logging in."""
    folder = service.settings.data / "backups"
    folder.mkdir(parents=True)
    (folder / "private.binproto").write_bytes(record(HEADER))
    with service.client() as client:
        page = client.get("/").text
    assert "Log in" in page
    assert "private.binproto" not in page


def test_the_administrator_sees_the_backups_with_their_counts(service: Service) -> None:
    """Each file with its date, its app and its counts; a broken one with its problem."""
    folder = service.settings.data / "backups"
    folder.mkdir(parents=True)
    (folder / "mine.binproto").write_bytes(record(HEADER) + frame(1) + frame(4) * 1234)
    (folder / "<b>broken").write_bytes(record(HEADER) + b"\x80")
    with service.logged_in() as client:
        page = client.get("/").text
    for words in ("mine.binproto", "14 November 2023", "App 2.0", "1,234", "ends in the middle of a record"):
        assert words in page
    assert "<b>broken" not in page


def test_other_users_do_not_see_the_shelf(service: Service) -> None:
    """The data folder is the administrator's."""
    accounts.create_user(service.database, "ada", Secret("long enough"))
    (service.settings.data / "backups").mkdir(parents=True)
    (service.settings.data / "backups" / "mine.binproto").write_bytes(record(HEADER))
    with service.client() as client:
        client.post("/login", data={"name": "ada", "password": "long enough"})
        page = client.get("/").text
    assert "Log out" in page
    assert "mine.binproto" not in page
