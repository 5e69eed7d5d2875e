"""SSH host keys: generation, encryption, and sharing between machines."""

import subprocess
from pathlib import Path

import asyncssh
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import DecryptionFailed
from holdfast.hosting.services import ssh_host_keys
from holdfast.hosting.store import ssh_keys as store
from holdfast.hosting.store.encryption import SecretCipher
from holdfast.secret import Secret


def fingerprints(keys: list[asyncssh.SSHKey]) -> list[str]:
    """Return the fingerprints of keys."""
    return [key.get_fingerprint("sha256") for key in keys]


def test_host_keys_are_generated_once(app: App, tmp_path: Path) -> None:
    """The second load returns the keys of the first, and the fingerprint is that of `ssh-keygen`."""
    first = ssh_host_keys.load(app)
    assert [key.get_algorithm() for key in first] == ["ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"]
    assert fingerprints(ssh_host_keys.load(app)) == fingerprints(first)
    listed = ssh_host_keys.list_keys(app)
    assert [key.fingerprint for key in listed] == fingerprints(first)
    file = tmp_path / "key.pub"
    file.write_text(listed[0].public_key + "\n")
    shown = subprocess.run(["ssh-keygen", "-lf", file], capture_output=True, text=True, check=True).stdout
    assert listed[0].fingerprint in shown


def test_the_keys_of_another_machine_that_was_first_are_used(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another machine stores its keys first, they are used instead of the generated ones."""
    theirs: list[asyncssh.SSHKey] = []
    monkeypatch.setattr(ssh_host_keys, "ALGORITHMS", ("ssh-ed25519",))
    generate = ssh_host_keys.generate

    def meanwhile(opened: App, algorithm: str) -> str:
        mine = generate(opened, algorithm)
        other = generate(opened, algorithm)
        theirs.append(asyncssh.import_private_key(opened.cipher.decrypt(other).encode()))
        store.add_host_keys(opened.database, [(algorithm, other)])
        return mine

    monkeypatch.setattr(ssh_host_keys, "generate", meanwhile)
    assert fingerprints(ssh_host_keys.load(app)) == fingerprints(theirs)


def test_host_keys_are_encrypted(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored keys cannot be read from the database without the key of the installation."""
    monkeypatch.setattr(ssh_host_keys, "ALGORITHMS", ("ssh-ed25519",))
    ssh_host_keys.load(app)
    (stored,) = store.host_keys(app.database).values()
    assert "PRIVATE KEY" not in stored
    app.cipher = SecretCipher(tmp_path / "none", Secret("another key that is long enough to be one"))
    with pytest.raises(DecryptionFailed):
        ssh_host_keys.load(app)
