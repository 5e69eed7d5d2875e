"""The application object: everything that outlives a request."""

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
from holdfast.hosting.password_pool import PasswordPool
from holdfast.hosting.storage.batch_queue import BatchQueue
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import KEY_FILE, SecretCipher
from holdfast.settings import Settings

__all__ = ["BUCKET_OWNER", "App", "lfs_store"]

BUCKET_OWNER: Final = "bucket-owner"


def lfs_store(settings: Settings) -> LfsStore:
    """Open the LFS object store: in the data folder, or in an S3 bucket."""
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
    """A running service."""

    settings: Settings
    database: Database
    folders: Folders
    lfs: LfsStore
    cipher: SecretCipher
    """Encrypts secrets at rest."""
    password_pool: PasswordPool = field(default_factory=PasswordPool)
    """Hashes passwords."""
    pushed: set[int] = field(default_factory=set)
    """Repositories that were pushed to, until their size and history index are updated."""
    resting: dict[int, float] = field(default_factory=dict)
    """Cooldown: until when (monotonic time) repositories whose update took long are skipped."""
    commit_queue: BatchQueue = field(default_factory=BatchQueue)
    """Group commit: the waiting commit requests, by repository."""
    used_tokens: dict[int, int] = field(default_factory=dict)
    """When tokens were last used, written in batches."""
    seen_sessions: dict[str, int] = field(default_factory=dict)
    """When sessions were last used, by token hash; written in batches."""

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open what the settings name; the database must be migrated."""
        # Imported late: the module of payloads imports this one.
        from holdfast.hosting.webhooks.payloads import payload_renderer  # noqa: PLC0415  # see above

        folders = Folders(settings.data / "repositories")
        cipher = SecretCipher(settings.data / KEY_FILE, settings.secret_key)
        pool = PasswordPool(settings.password_hash_concurrency)
        opened = cls(settings, connect(settings), folders, lfs_store(settings), cipher, pool)
        opened.database.render_with(payload_renderer(opened))
        return opened

    @property
    def root(self) -> str:
        """The root URL, for those without a request."""
        return self.settings.root_url or f"http://localhost:{self.settings.port}"

    def point_head(self, repository_id: int, branch: str) -> None:
        """Set the default branch of the git repository."""
        set_head(open_repository(self.folders.existing(repository_id)), branch)

    def close(self) -> None:
        """Close everything."""
        self.database.close()
