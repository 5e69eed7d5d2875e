"""Setup of the object store at startup."""

from contextlib import closing

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.errors import WrongDataFolder
from holdfast.hosting.services.storage_setup import prepare_storage
from holdfast.hosting.storage import instance
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.hosting.old_data_folder import make_old_data_folder
from tests.s3_server import s3_server


def test_the_bucket_of_another_installation_is_refused(settings: Settings) -> None:
    """The first start writes the id of the installation to the bucket, and a different id is an error."""
    with s3_server() as server:
        given = msgspec.structs.replace(server.settings(settings), secret_key=Secret("c2VjcmV0" * 6))
        with open_database(given) as database:
            prepare(database, given)
        with closing(App.open(given)) as app:
            prepare_storage(app, lambda _done, _total: None)
            assert instance.owns_store(app.database, app.store)
            app.store.replace("instance", b"another")
            with pytest.raises(WrongDataFolder):
                prepare_storage(app, lambda _done, _total: None)


def test_repositories_of_an_earlier_version_are_adopted(settings: Settings, empty_database: Database) -> None:
    """The first start adopts the repositories and reports its progress; the second one has nothing to adopt."""
    make_old_data_folder(settings, empty_database)
    prepare(empty_database, settings)
    calls: list[tuple[int, int]] = []
    with closing(App.open(settings)) as app:
        for _ in range(2):
            prepare_storage(app, lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
