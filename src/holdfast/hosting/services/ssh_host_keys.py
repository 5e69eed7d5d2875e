"""The host keys of the SSH server, stored encrypted in the database so that all machines use the same."""

from typing import Final

import asyncssh
import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.store import ssh_keys as store

__all__ = ["HostKey", "list_keys", "load"]

# In the order in which clients are offered them.
ALGORITHMS: Final = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa")
RSA_BITS: Final = 3072


class HostKey(msgspec.Struct, frozen=True):
    """The public half of a host key."""

    algorithm: str
    fingerprint: str
    """Its SHA-256 fingerprint, as SSH clients show it."""
    public_key: str
    """The key as in a line of `known_hosts`, without the host."""


def load(app: App) -> list[asyncssh.SSHKey]:
    """Return the private host keys; missing keys are generated and stored first.

    If several machines start at once, one stores its keys, and all use them.
    """
    stored = store.host_keys(app.database)
    missing = [algorithm for algorithm in ALGORITHMS if algorithm not in stored]
    if missing:
        store.add_host_keys(app.database, [(algorithm, generate(app, algorithm)) for algorithm in missing])
        stored = store.host_keys(app.database)
    return [
        asyncssh.import_private_key(app.cipher.decrypt(stored[algorithm]).encode()) for algorithm in ALGORITHMS
    ]


def list_keys(app: App) -> list[HostKey]:
    """Return the public host keys with their fingerprints."""
    return [
        HostKey(
            key.get_algorithm(),
            key.get_fingerprint("sha256"),
            key.export_public_key("openssh").decode().strip(),
        )
        for key in load(app)
    ]


def generate(app: App, algorithm: str) -> str:
    """Generate a private key, and return it encrypted."""
    key = (
        asyncssh.generate_private_key(algorithm, key_size=RSA_BITS)
        if algorithm == "ssh-rsa"
        else asyncssh.generate_private_key(algorithm)
    )
    return app.cipher.encrypt(key.export_private_key("openssh").decode())
