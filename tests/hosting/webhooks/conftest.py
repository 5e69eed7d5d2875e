"""Fixtures of the webhook tests."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from holdfast.hosting.app import App
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from tests.hosting.repository_helpers import make_people
from tests.hosting.webhooks.outboxes import Outbox
from tests.hosting.webhooks.receivers import Receiver, receiving


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a self-signed certificate of hooks.example.org."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hooks.example.org")])
    now = datetime.now(UTC)
    created_certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hooks.example.org")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + created_certificate.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def app(settings: Settings, database: Database) -> Iterator[App]:
    """Open an app that may send requests to loopback addresses."""
    opened = App.open(msgspec.structs.replace(settings, webhook_allowed_hosts="loopback", webhook_tries=3))
    yield opened
    opened.close()


@pytest.fixture
def ada(app: App) -> Account:
    """Create Ada, whose email address is hidden."""
    return make_people(app.database, "Ada", email="ada@example.org")[0]


@pytest.fixture
def outbox(app: App) -> Outbox:
    """Create an empty outbox."""
    return Outbox(app)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Run a receiver that answers every request with a success."""
    with receiving() as receivers:
        yield receivers
