"""A software authenticator, for tests of passkeys without a browser."""

import hashlib
import json
import secrets
import struct
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.relying_party import RelyingParty, decoded, encoded
from holdfast.hosting.services import passkeys
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["ROOT", "SoftwareAuthenticator", "add_passkey", "give_passkey"]

ROOT = "http://localhost:3000"
USER_PRESENT = 0x01
USER_VERIFIED = 0x04
ATTESTED = 0x40


@dataclass
class SoftwareAuthenticator:
    """One passkey: an ECDSA key with a counter; tests change what it signs."""

    origin: str = ROOT
    counter: int = 0
    verifies_user: bool = True
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    user_handle: str = ""
    is_present: bool = True

    def cose_key(self) -> bytes:
        """Return the public key as COSE."""
        numbers = self.key.public_key().public_numbers()
        point = {-2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        return cbor2.dumps({1: 2, 3: -7, -1: 1, **point})

    def client_data(self, kind: str, challenge: str) -> bytes:
        """Return the client data that the browser signs."""
        content = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(content).encode()

    def authenticator_data(self, rp_id: str, attested: bytes = b"") -> bytes:
        """Return the flags and the counter, with the new credential if there is one."""
        flags = USER_VERIFIED * self.verifies_user | USER_PRESENT * self.is_present | ATTESTED * bool(attested)
        return hashlib.sha256(rp_id.encode()).digest() + struct.pack(">BI", flags, self.counter) + attested

    def create(self, options: bytes) -> str:
        """Answer the options for a new passkey, as a browser sends it."""
        asked = json.loads(options)
        self.user_handle = asked["user"]["id"]
        new = bytes(16) + struct.pack(">H", len(self.credential_id)) + self.credential_id + self.cose_key()
        statement = {
            "fmt": "none",
            "attStmt": {},
            "authData": self.authenticator_data(asked["rp"]["id"], new),
        }
        response = {
            "clientDataJSON": encoded(self.client_data("webauthn.create", asked["challenge"])),
            "attestationObject": encoded(cbor2.dumps(statement)),
        }
        return self.credential(response)

    def get(self, options: bytes) -> str:
        """Answer the options for a signature; the counter goes up if there is one."""
        asked = json.loads(options)
        if self.counter:
            self.counter += 1
        client_data = self.client_data("webauthn.get", asked["challenge"])
        data = self.authenticator_data(asked["rpId"])
        signed = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": encoded(client_data),
            "authenticatorData": encoded(data),
            "signature": encoded(signed),
            "userHandle": self.user_handle,
        }
        return self.credential(response)

    def credential(self, response: dict[str, Any]) -> str:
        """Return a response with the id of the passkey, as JSON."""
        own = encoded(self.credential_id)
        assert decoded(own) == self.credential_id
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": response})


def add_passkey(
    app: App, user: Account, name: str = "Phone", *, key: SoftwareAuthenticator | None = None
) -> tuple[SoftwareAuthenticator, list[Secret]]:
    """Add a passkey to a user; return it and the recovery codes, if there were none before."""
    software_authenticator = SoftwareAuthenticator() if key is None else key
    party = RelyingParty.at(software_authenticator.origin)
    options = passkeys.creation_options(app, Actor(user, by_password=True), party, "")
    return software_authenticator, passkeys.add(
        app, Actor(user), party, name, software_authenticator.create(options)
    )


def give_passkey(settings: Settings, user: Account, origin: str) -> tuple[SoftwareAuthenticator, list[Secret]]:
    """Add a passkey to a user of a running service; return it and the recovery codes."""
    app = App.open(settings)
    try:
        return add_passkey(app, user, key=SoftwareAuthenticator(origin))
    finally:
        app.close()
