"""The header and the tabs of repository pages."""

from msgspec.structs import replace

from holdfast.hosting.access import ANONYMOUS, Actor, RepositoryAccess, repository_access
from holdfast.hosting.app import App
from holdfast.hosting.services.repositories import NewRepository, create
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from holdfast.web.repository_frame import root_path, tabs_of


def test_users_see_permitted_tabs_only(settings: Settings, database: Database) -> None:
    """The tab of settings is shown only to users who may change them, that of commits only if there are some."""
    admin = accounts.find_user(database, "admin")
    host = App.open(settings)
    repository = create(host, admin, admin, NewRepository(name="tides"))
    host.close()
    pushed = replace(repository, is_empty=False)
    for caller, shown, expected in (
        (Actor(admin), pushed, ["Code", "Commits", "Issues", "Pull requests", "Settings"]),
        (ANONYMOUS, pushed, ["Code", "Commits", "Issues", "Pull requests"]),
        (ANONYMOUS, repository, ["Code", "Issues", "Pull requests"]),
    ):
        target = RepositoryAccess(shown, repository_access(caller, shown, ()))
        assert [tab.name for tab in tabs_of(target)] == expected
        assert root_path(target) == "/admin/tides"
