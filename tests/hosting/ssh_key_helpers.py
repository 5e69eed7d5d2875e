"""SSH keys for tests."""

import asyncssh

__all__ = ["new_key", "public_text"]


def new_key(algorithm: str = "ssh-ed25519") -> asyncssh.SSHKey:
    """Generate a private key."""
    return asyncssh.generate_private_key(algorithm)


def public_text(key: asyncssh.SSHKey) -> str:
    """Return the public key as in an OpenSSH `.pub` file."""
    return key.export_public_key("openssh").decode().strip()
