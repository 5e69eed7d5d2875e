"""The application object: all state that outlives a request."""

import os
import secrets
import socket
from dataclasses import dataclass, field
from typing import Final, Self

from holdfast.hosting.data_folder import connect
from holdfast.hosting.git.contributors import ContributorList
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.lfs.store import LfsStore
from holdfast.hosting.password_pool import PasswordPool
from holdfast.hosting.storage.batch_queue import BatchQueue
from holdfast.hosting.storage.compaction import Compactor
from holdfast.hosting.storage.copy_verification import CopyVerifier
from holdfast.hosting.storage.file_cache import FileCache
from holdfast.hosting.storage.local_copies import LocalCopies
from holdfast.hosting.storage.object_store import ObjectStore, open_object_store
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import KEY_FILE, SecretCipher
from holdfast.settings import Settings

__all__ = ["App"]

# Maximum clone responses generated at once; concurrent requests for the same one share it.
FETCHES_AT_ONCE: Final = 64


@dataclass(slots=True)
class App:
    """A running service."""

    settings: Settings
    database: Database
    store: ObjectStore
    """Packs and LFS objects by key, in the data folder or in an S3 bucket."""
    copies: LocalCopies
    """The bare repositories on this machine."""
    verifier: CopyVerifier
    """Verifies the checksums of the local copies."""
    compactor: Compactor
    lfs: LfsStore
    cipher: SecretCipher
    """Encrypts secrets at rest."""
    archives: FileCache
    """The archives of commits on this machine."""
    fetches: FileCache
    """The responses to clones on this machine."""
    password_pool: PasswordPool = field(default_factory=PasswordPool)
    """Hashes passwords."""
    pushed: set[int] = field(default_factory=set)
    """Repositories that were written to, until the background tasks have processed them."""
    contributors: dict[int, ContributorList] = field(default_factory=dict)
    """A cache of contributors, by repository id."""
    moved: set[int] = field(default_factory=set)
    """Repositories whose branches moved, until their pull requests are compared again."""
    cooldowns: dict[int, float] = field(default_factory=dict)
    """Cooldowns: until when (monotonic time) repositories whose compaction took long are skipped, by id."""
    contended: dict[int, float] = field(default_factory=dict)
    """Until when (monotonic time) writers take the advisory lock of repositories under contention, by id."""
    commit_queue: BatchQueue = field(default_factory=BatchQueue)
    """Group commit: the queued commit requests, by repository."""
    used_tokens: dict[int, int] = field(default_factory=dict)
    """When tokens were last used, written in batches."""
    used_ssh_keys: dict[int, int] = field(default_factory=dict)
    """When SSH keys were last used, written in batches."""
    seen_sessions: dict[str, int] = field(default_factory=dict)
    """When sessions were last used, by token hash; written in batches."""
    downloads: list[int] = field(default_factory=list)
    """The ids of downloaded attachments, counted in batches."""

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the database and storage of the settings; the database must be migrated."""
        # A circular import: the payloads module imports this one.
        from holdfast.hosting.webhooks.payloads import payload_renderer  # noqa: PLC0415  # see above

        database = connect(settings)
        store = open_object_store(settings)
        copies = LocalCopies(Folders(settings.data / "repositories"), database, store)
        holder = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        compactor = Compactor(database, store, copies, holder)
        cipher = SecretCipher(settings.data / KEY_FILE, settings.secret_key)
        archives = FileCache(settings.data / "cache" / "archives", settings.archive_cache_mb * 2**20)
        fetches = FileCache(
            settings.data / "cache" / "fetches", settings.clone_cache_mb * 2**20, concurrency=FETCHES_AT_ONCE
        )
        pool = PasswordPool(settings.password_hash_concurrency)
        lfs = LfsStore(store)
        verifier = CopyVerifier(copies)
        opened = cls(settings, database, store, copies, verifier, compactor, lfs, cipher, archives, fetches, pool)
        opened.database.render_with(payload_renderer(opened))
        return opened

    @property
    def root(self) -> str:
        """The root URL, for code without a request."""
        return self.settings.root_url or f"http://localhost:{self.settings.port}"

    @property
    def folders(self) -> Folders:
        """The folders of the local copies."""
        return self.copies.folders

    def close(self) -> None:
        """Close the database, and let another process verify the local copies."""
        self.verifier.close()
        self.database.close()
