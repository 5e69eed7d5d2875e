"""The host: everything a request needs that outlives it."""

from dataclasses import dataclass, field
from typing import Final, Self

from holdfast.hosting.data_folder import connect
from holdfast.hosting.errors import LfsUnavailable
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.git.ref_store import set_head
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.lfs.disk import DiskLfsStore
from holdfast.hosting.lfs.s3 import S3LfsStore
from holdfast.hosting.lfs.store import LfsStore
from holdfast.hosting.storage.batch_queue import BatchQueue
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import KEY_FILE, Sealer
from holdfast.settings import Settings

__all__ = ["BUCKET_OWNER", "App", "lfs_store"]

BUCKET_OWNER: Final = "bucket-owner"


def lfs_store(settings: Settings) -> LfsStore:
    """Open where large files are kept: in the data folder, or in a bucket."""
    if settings.s3_bucket is None:
        return DiskLfsStore(settings.data / "lfs")
    if settings.s3_access_key is None or settings.s3_secret_key is None:
        raise LfsUnavailable("a bucket needs s3_access_key and s3_secret_key")
    return S3LfsStore(
        settings.s3_bucket,
        endpoint=settings.s3_endpoint,
        region=settings.s3_region,
        access_key=settings.s3_access_key,
        secret_key=settings.s3_secret_key,
        owner=settings.data / BUCKET_OWNER,
    )


@dataclass(slots=True)
class App:
    """One running service."""

    settings: Settings
    database: Database
    folders: Folders
    lfs: LfsStore
    sealer: Sealer
    """Seals the secrets the database keeps."""
    pushed: set[int] = field(default_factory=set)
    """The repositories that were pushed to, until a moment later their size and history index are made new."""
    resting: dict[int, float] = field(default_factory=dict)
    """Until when (on the clock that only goes forward) repositories are left alone that this took long for."""
    commit_queue: BatchQueue = field(default_factory=BatchQueue)
    """Group commit: the commit requests that wait, by repository."""
    used_tokens: dict[int, int] = field(default_factory=dict)
    """When tokens were last used, until a moment later that is written down for all of them at once."""
    seen_sessions: dict[str, int] = field(default_factory=dict)
    """When browsers were last seen, by the hashes of their sessions; written down like the use of tokens."""

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open what the settings name; its database must have been migrated before."""
        # Payloads are made of what a host holds, so their module imports this one.
        from holdfast.hosting.webhooks.payloads import payload_renderer  # noqa: PLC0415

        folders = Folders(settings.data / "repositories")
        sealer = Sealer(settings.data / KEY_FILE, settings.secret_key)
        opened = cls(settings, connect(settings), folders, lfs_store(settings), sealer)
        opened.database.render_with(payload_renderer(opened))
        return opened

    @property
    def root(self) -> str:
        """The address of the service for those who did not ask it, and so named none."""
        return self.settings.root_url or f"http://localhost:{self.settings.port}"

    def point_head(self, repository_id: int, branch: str) -> None:
        """Make a branch the one clones start on."""
        set_head(open_repository(self.folders.existing(repository_id)), branch)

    def close(self) -> None:
        """Give everything back."""
        self.database.close()
