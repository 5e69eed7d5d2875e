"""The data folder: the first start, migration and file permissions."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hosting.data_folder import FirstStart, open_database, paths_open_to_others, prepare
from holdfast.hosting.errors import DatabaseError
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings


def test_the_first_start_makes_an_administrator_with_the_password_given(
    empty_database: Database, settings: Settings
) -> None:
    """A password of the settings is used for the administrator, and is not returned."""
    assert prepare(empty_database, settings) == FirstStart("admin", None)
    assert settings.admin_password is not None
    user = accounts.check_password(empty_database, "admin", settings.admin_password)
    assert user is not None
    assert user.is_admin


def test_a_generated_password_is_shown_once(empty_database: Database, settings: Settings) -> None:
    """The first start returns the generated password, and the second one returns and changes nothing."""
    bare = Settings(data=settings.data, admin_name="root")
    first = prepare(empty_database, bare)
    assert first is not None
    assert first.admin == "root"
    assert isinstance(first.password, Secret)
    assert accounts.check_password(empty_database, "root", first.password) is not None
    assert prepare(empty_database, bare) is None
    assert accounts.count_users(empty_database) == 1
    assert accounts.check_password(empty_database, "root", first.password) is not None


def test_first_starts_at_the_same_time_make_one_administrator(
    empty_database: Database, settings: Settings
) -> None:
    """Nodes that start together with an empty database all start; one has made the administrator."""
    bare = Settings(data=settings.data)
    with ThreadPoolExecutor(4) as threads:
        started = list(threads.map(lambda _: prepare(empty_database, bare), range(4)))
    (first,) = [one for one in started if one is not None]
    assert first.password is not None
    assert accounts.count_users(empty_database) == 1
    assert accounts.check_password(empty_database, first.admin, first.password) is not None


def test_an_unreachable_server_is_reported(settings: Settings) -> None:
    """An unreachable database server raises DatabaseError when the service is prepared."""
    gone = Settings(data=settings.data, database_url=Secret("postgresql://x@127.0.0.1:1/x"))
    with open_database(gone) as database, pytest.raises(DatabaseError, match="cannot be reached"):
        prepare(database, gone)


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_permissions_of_readable_files_are_restricted(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """The data folder and its content become private, and the log has each path once."""
    with open_database(settings) as database:
        prepare(database, settings)
    for name in ("repositories", "lfs"):
        (settings.data / name).mkdir()
    paths = [settings.data, *settings.data.iterdir()]
    for path in paths:
        path.chmod(0o755 if path.is_dir() else 0o644)
    capsys.readouterr()
    with open_database(settings) as database:
        prepare(database, settings)
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    lines = capsys.readouterr().out.splitlines()
    assert all("data folder permissions restricted" in line for line in lines)
    assert sorted(line.rpartition("path=")[2].strip() for line in lines) == sorted(map(str, paths))
    with open_database(settings) as database:
        prepare(database, settings)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_the_umask_does_not_matter(settings: Settings) -> None:
    """The files of the first start are private also with a umask of 0."""
    before = os.umask(0)
    try:
        with open_database(settings) as database:
            prepare(database, settings)
            paths = [settings.data, *settings.data.rglob("*")]
            assert len(paths) > 1
            assert [path for path in paths if path.stat().st_mode & 0o077] == []
            assert paths_open_to_others(settings.data) == []
    finally:
        os.umask(before)
