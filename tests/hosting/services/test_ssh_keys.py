"""Public SSH keys: parsing, weak keys and permissions."""

import base64
from collections.abc import Callable
from contextlib import suppress

import asyncssh
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, InvalidField, LoginRequired, SshKeyRefused
from holdfast.hosting.services import ssh_keys
from holdfast.hosting.services.ssh_keys import LONGEST_KEY, NewSshKey, parse
from holdfast.hosting.store import accounts
from tests.hosting.services.scenario import make_scenario
from tests.hosting.ssh_key_helpers import new_key, public_text

PLAIN = " ".join(public_text(new_key()).split()[:2])
DSA = "ssh-dss AAAAB3NzaC1kc3MAAACBAP"


def rsa(bits: int) -> str:
    """Return a public RSA key of some size."""
    public = generate_private_key(65537, bits).public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


@pytest.mark.parametrize(
    "algorithm", ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"]
)
def test_a_key_is_stored_without_its_comment(algorithm: str) -> None:
    """The comment is removed, and the fingerprint is the SHA-256 one that `ssh-keygen -l` prints."""
    key = new_key(algorithm)
    text = " ".join(public_text(key).split()[:2])
    parsed = parse(f"  {text} ada@laptop (work)\n")
    assert (parsed.content, parsed.fingerprint) == (text, key.get_fingerprint("sha256"))
    assert parsed.fingerprint.startswith("SHA256:")


def test_rsa_keys_of_a_good_size_are_accepted() -> None:
    """An RSA key of 2048 bits, the smallest allowed size, is accepted."""
    assert parse(rsa(2048)).content.startswith("ssh-rsa ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a public key in OpenSSH format"),
        ("ssh-ed25519", "not a public key in OpenSSH format"),
        ("ssh-ed25519 AAAA\nssh-ed25519 AAAA", "not a public key in OpenSSH format"),
        ("ssh-ed25519 AAAA", "damaged or incomplete"),
        (DSA, "DSA keys are too weak"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA", "not supported"),
        ("x" * (LONGEST_KEY + 1), f"at most {LONGEST_KEY} characters"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA", "not a public key in OpenSSH format"),
    ],
)
def test_other_text_is_refused_with_a_reason(text: str, message: str) -> None:
    """Private keys, damaged keys, weak algorithms and certificates have their own messages."""
    with pytest.raises(SshKeyRefused, match=message):
        parse(text)


def test_a_weak_rsa_key_is_refused() -> None:
    """The error for an RSA key of 1024 bits names its size."""
    with pytest.raises(SshKeyRefused, match="this one has 1024"):
        parse(rsa(1024))


def test_a_key_under_the_name_of_another_algorithm_is_refused() -> None:
    """The algorithm must match the key data, because otherwise one key could be stored twice."""
    text = public_text(new_key()).split()[1]
    with pytest.raises(SshKeyRefused):
        parse(f"ecdsa-sha2-nistp256 {text}")


@given(
    text=st.text(max_size=200) | st.from_regex(r"\A(ssh-rsa|ssh-ed25519|ecdsa-sha2-nistp256) [A-Za-z0-9+/=]+\Z")
)
def test_any_text_is_a_key_or_refused(text: str) -> None:
    """Any text is parsed with the right fingerprint or refused, without any other error."""
    with suppress(SshKeyRefused):
        assert parse(text).fingerprint == asyncssh.import_public_key(text.strip()).get_fingerprint("sha256")


@given(place=st.integers(0, 50), byte=st.integers(0, 255))
def test_a_damaged_key_is_a_key_or_refused(place: int, byte: int) -> None:
    """A key with one changed byte is parsed or refused as an invalid key, without any other error."""
    algorithm, data = PLAIN.split()
    raw = bytearray(base64.b64decode(data))
    raw[place % len(raw)] = byte
    with suppress(SshKeyRefused):
        parse(f"{algorithm} {base64.b64encode(raw).decode()}")


def test_keys_are_changed_by_their_owner_and_by_site_administrators(app: App) -> None:
    """Other users may list public keys, but not find, add or delete them."""
    scenario = make_scenario(app)
    admin = Actor(accounts.find_user(app.database, "admin"))
    ada, eve = scenario.owner, Actor(scenario.reader)
    kept = ssh_keys.add(app, Actor(ada), ada, NewSshKey(title=" laptop ", key=PLAIN))
    assert (kept.title, ssh_keys.find(app, admin, ada, kept.id)) == ("laptop", kept)
    other = NewSshKey(title="desk", key=public_text(new_key()))
    refused: tuple[Callable[[Actor], object], ...] = (
        lambda actor: ssh_keys.find(app, actor, ada, kept.id),
        lambda actor: ssh_keys.add(app, actor, ada, other),
        lambda actor: ssh_keys.delete(app, actor, ada, kept.id),
    )
    for call in refused:
        with pytest.raises(Forbidden):
            call(eve)
        with pytest.raises(LoginRequired):
            call(ANONYMOUS)
    assert ssh_keys.list_keys(app, eve, ada, skip=0, limit=5) == ([kept], 1)
    ssh_keys.delete(app, admin, ada, kept.id)
    assert ssh_keys.list_keys(app, eve, ada, skip=0, limit=5) == ([], 0)


def test_deploy_keys_are_a_matter_of_administrators_of_the_repository(app: App) -> None:
    """Write access is not enough to list, read, add or delete deploy keys."""
    scenario = make_scenario(app)
    owner, writer = scenario.caller(scenario.owner), scenario.caller(scenario.writer)
    new = NewSshKey(title="robot", key=PLAIN, is_read_only=True)
    kept = ssh_keys.add_deploy_key(*owner, new)
    assert (kept.is_read_only, ssh_keys.find_deploy_key(*owner, kept.id)) == (True, kept)
    refused: tuple[Callable[[], object], ...] = (
        lambda: ssh_keys.list_deploy_keys(*writer, skip=0, limit=5),
        lambda: ssh_keys.find_deploy_key(*writer, kept.id),
        lambda: ssh_keys.add_deploy_key(*writer, NewSshKey(title="desk", key=public_text(new_key()))),
        lambda: ssh_keys.delete_deploy_key(*writer, kept.id),
    )
    for call in refused:
        with pytest.raises(Forbidden):
            call()
    assert ssh_keys.list_deploy_keys(*owner, skip=0, limit=5) == ([kept], 1)


def test_a_title_has_so_many_characters() -> None:
    """The length limit applies after spaces around the title are removed, and an empty title is refused."""
    longest = "x" * ssh_keys.MAX_TITLE
    assert ssh_keys.check_title(f" {longest} ") == longest
    for title in ("", "  ", f"{longest}x"):
        with pytest.raises(InvalidField, match=r"^\[Title\]"):
            ssh_keys.check_title(title)
