"""The WebAuthn relying party: creates the options for browsers, and verifies the responses of passkeys.

Browsers and authenticators bind a passkey to the host name of the service (the RP ID), and sign the origin of the
page. Attestation is not requested: authenticators of all vendors are accepted.
"""

import base64
import binascii
import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from holdfast.hosting.errors import PasskeyRefused, PasskeysUnavailable
from holdfast.redacted_repr import redacted

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

__all__ = ["PasskeyResponse", "RegisteredPasskey", "RelyingParty", "VerifiedPasskey", "decoded", "encoded"]

T = TypeVar("T")
NAME: Final = "Holdfast"
# The timeout of the browser's dialog, in milliseconds.
TIMEOUT: Final = 120_000
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# The maximum length of a credential id in WebAuthn, and more than that of any common public key.
LARGEST_CREDENTIAL: Final = 1023
LARGEST_PUBLIC_KEY: Final = 2048


@redacted
class AuthenticatorResponse(msgspec.Struct, frozen=True):
    """The response of an authenticator, an assertion or attestation; all values are base64url."""

    client_data: str = msgspec.field(name="clientDataJSON")
    attestation: str | None = msgspec.field(name="attestationObject", default=None)
    authenticator_data: str | None = msgspec.field(name="authenticatorData", default=None)
    signature: str | None = None
    user_handle: str | None = msgspec.field(name="userHandle", default=None)


@redacted
class PasskeyResponse(msgspec.Struct, frozen=True):
    """The response of a passkey to a challenge, as browsers send it; unused fields are ignored."""

    id: str
    raw_id: str = msgspec.field(name="rawId")
    type: str
    response: AuthenticatorResponse

    @classmethod
    def read(cls, text: str) -> Self:
        """Decode a response from JSON; raise `PasskeyRefused` for anything else."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            raise PasskeyRefused from None

    @property
    def challenge(self) -> str:
        """The challenge that was signed, as base64url; it is verified later."""
        try:
            return msgspec.json.decode(decoded(self.response.client_data), type=ClientData).challenge
        except (msgspec.MsgspecError, RecursionError):
            raise PasskeyRefused from None


class ClientData(msgspec.Struct, frozen=True):
    """The part of the signed client data that has the challenge."""

    challenge: str


@redacted
class RegisteredPasskey(msgspec.Struct, frozen=True):
    """A verified registration; binary values are base64url."""

    credential_id: str
    public_key: str
    sign_count: int


@redacted
class VerifiedPasskey(msgspec.Struct, frozen=True):
    """A verified signature, with the counter of the authenticator."""

    sign_count: int


def encoded(value: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode("ascii")


def decoded(value: str) -> bytes:
    """Decode base64url without padding; raise `PasskeyRefused` for anything else."""
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise PasskeyRefused from None


def verified(verify: Callable[[], T]) -> T:
    """Return the result of a verification by the library; raise `PasskeyRefused` if it fails."""
    try:
        return verify()
    # Its decoders of CBOR, keys and certificates raise a dozen types of errors for malformed input.
    except Exception:  # noqa: BLE001  # see above
        raise PasskeyRefused from None


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The service as a relying party: its RP ID and its origin."""

    id: str
    origin: str

    @classmethod
    def at(cls, root: str) -> Self:
        """Return the relying party of a root URL; raise `PasskeysUnavailable` if it allows no passkeys."""
        try:
            parts = urlsplit(root)
            scheme, host, port = parts.scheme, parts.hostname or "", parts.port
        except ValueError:
            scheme, host, port = "", "", None
        if not host or is_ip_address(host):
            raise PasskeysUnavailable(
                "passkeys need an address with a host name, and this service is used at an IP address; "
                "set root_url to its public address"
            )
        if scheme != "https" and host != "localhost" and not host.endswith(".localhost"):
            raise PasskeysUnavailable(
                "passkeys need an address that begins with https://, and this service is used at one with http://"
            )
        origin = f"{scheme}://{host}"
        return cls(host, origin if port in {None, DEFAULT_PORTS.get(scheme)} else f"{origin}:{port}")

    def creation_options(
        self, challenge: str, *, user_name: str, full_name: str, user_handle: str, credential_ids: Sequence[str]
    ) -> bytes:
        """Return the options for a new passkey as JSON: discoverable, and with user verification.

        `credential_ids` are those of the user's existing passkeys, which are excluded.
        """
        from webauthn import generate_registration_options, options_to_json  # noqa: PLC0415  # loads for 0.2 s
        from webauthn.helpers.structs import (  # noqa: PLC0415  # as above
            AuthenticatorSelectionCriteria,
            ResidentKeyRequirement,
            UserVerificationRequirement,
        )

        options = generate_registration_options(
            rp_id=self.id,
            rp_name=NAME,
            user_name=user_name,
            user_display_name=full_name or user_name,
            user_id=decoded(user_handle),
            challenge=decoded(challenge),
            timeout=TIMEOUT,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=descriptors(credential_ids),
        )
        return options_to_json(options).encode()

    def request_options(self, challenge: str, *, credential_ids: Sequence[str] = (), verify_user: bool) -> bytes:
        """Return the options for a signature as JSON; without `credential_ids`, the user chooses an account."""
        from webauthn import generate_authentication_options, options_to_json  # noqa: PLC0415  # loads for 0.2 s
        from webauthn.helpers.structs import UserVerificationRequirement  # noqa: PLC0415  # as above

        options = generate_authentication_options(
            rp_id=self.id,
            challenge=decoded(challenge),
            timeout=TIMEOUT,
            allow_credentials=descriptors(credential_ids),
            user_verification=UserVerificationRequirement.REQUIRED
            if verify_user
            else UserVerificationRequirement.PREFERRED,
        )
        return options_to_json(options).encode()

    def verify_registration(self, response: PasskeyResponse, challenge: str) -> RegisteredPasskey:
        """Verify the registration of a passkey, with user verification; raise `PasskeyRefused` if invalid."""
        from webauthn import verify_registration_response  # noqa: PLC0415  # loads for 0.2 s

        registration = verified(
            lambda: verify_registration_response(
                credential=as_dict(response),
                expected_challenge=decoded(challenge),
                expected_rp_id=self.id,
                expected_origin=self.origin,
                require_user_verification=True,
            )
        )
        if (
            len(registration.credential_id) > LARGEST_CREDENTIAL
            or len(registration.credential_public_key) > LARGEST_PUBLIC_KEY
        ):
            raise PasskeyRefused
        return RegisteredPasskey(
            encoded(registration.credential_id),
            encoded(registration.credential_public_key),
            registration.sign_count,
        )

    def verify_signature(
        self, response: PasskeyResponse, challenge: str, *, public_key: str, verify_user: bool
    ) -> VerifiedPasskey:
        """Verify the signature of a passkey; raise `PasskeyRefused` if invalid. The caller checks the counter."""
        from webauthn import verify_authentication_response  # noqa: PLC0415  # loads for 0.2 s

        authentication = verified(
            lambda: verify_authentication_response(
                credential=as_dict(response),
                expected_challenge=decoded(challenge),
                expected_rp_id=self.id,
                expected_origin=self.origin,
                credential_public_key=decoded(public_key),
                # The library checks the counter before the signature, so that anybody could make that check fail.
                credential_current_sign_count=0,
                require_user_verification=verify_user,
            )
        )
        return VerifiedPasskey(authentication.new_sign_count)


def is_ip_address(host: str) -> bool:
    """Return whether a host is an IP address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def descriptors(credential_ids: Sequence[str]) -> "list[PublicKeyCredentialDescriptor]":
    """Convert credential ids to the library's descriptors."""
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor  # noqa: PLC0415  # loads for 0.2 s

    return [PublicKeyCredentialDescriptor(id=decoded(credential_id)) for credential_id in credential_ids]


def as_dict(response: PasskeyResponse) -> dict[str, Any]:
    """Convert a response to the library's input, with only the decoded fields."""
    fields: dict[str, Any] = msgspec.to_builtins(response)
    fields["response"] = {name: value for name, value in fields["response"].items() if value is not None}
    return fields
