"""What a service opens."""

from pathlib import Path

import msgspec
import pytest

from holdfast.hosting.app import App, lfs_store
from holdfast.hosting.errors import LfsUnavailable
from holdfast.hosting.lfs.disk import DiskLfsStore
from holdfast.hosting.lfs.s3 import S3LfsStore
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings


def test_large_files_are_kept_where_the_settings_say(tmp_path: Path) -> None:
    """In the data folder, or in a bucket that has its keys."""
    assert isinstance(lfs_store(Settings(data=tmp_path)), DiskLfsStore)
    key, secret = Secret("id"), Secret("secret")
    whole = Settings(data=tmp_path, s3_bucket="b", s3_access_key=key, s3_secret_key=secret)
    assert isinstance(lfs_store(whole), S3LfsStore)
    with pytest.raises(LfsUnavailable, match="s3_access_key"):
        lfs_store(Settings(data=tmp_path, s3_bucket="b"))


def test_a_service_has_an_address_also_when_nobody_asks(settings: Settings, database: Database) -> None:
    """The one in the settings, or this machine's."""
    for given, address in ((None, "http://localhost:3000"), ("https://a.example", "https://a.example")):
        host = App.open(msgspec.structs.replace(settings, root_url=given))
        assert host.root == address
        host.close()
