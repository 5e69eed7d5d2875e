"""The WebAuthn relying party: its id and origin, options, and the verification of responses."""

import json
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import PasskeyRefused, PasskeysUnavailable
from holdfast.hosting.relying_party import PasskeyResponse, RelyingParty, decoded, encoded
from tests.hosting.passkey_helpers import ROOT, SoftwareAuthenticator

PARTY = RelyingParty.at(ROOT)


def new_challenge() -> str:
    """Return a challenge."""
    return encoded(secrets.token_bytes(32))


def creation_options(challenge: str) -> bytes:
    """Return the options for a new passkey of Ada."""
    return PARTY.creation_options(
        challenge, user_name="ada", full_name="", user_handle=encoded(b"h" * 32), credential_ids=[encoded(b"old")]
    )


def registered(key: SoftwareAuthenticator) -> str:
    """Register a passkey; return its public key."""
    challenge = new_challenge()
    response = PasskeyResponse.read(key.create(creation_options(challenge)))
    return PARTY.verify_registration(response, challenge).public_key


@pytest.mark.parametrize(
    ("root", "rp_id", "origin"),
    [
        ("https://git.example.org", "git.example.org", "https://git.example.org"),
        ("https://git.example.org:443/code", "git.example.org", "https://git.example.org"),
        ("https://Git.Example.org:8443", "git.example.org", "https://git.example.org:8443"),
        ("http://localhost:3000", "localhost", "http://localhost:3000"),
        ("http://localhost:80", "localhost", "http://localhost"),
        ("http://a.localhost", "a.localhost", "http://a.localhost"),
    ],
)
def test_the_rp_id_and_the_origin_are_those_of_the_address(root: str, rp_id: str, origin: str) -> None:
    """RP id and origin are normalized as browsers do it: in lower case and without a default port."""
    assert RelyingParty.at(root) == RelyingParty(rp_id, origin)


@pytest.mark.parametrize(
    ("root", "problem"),
    [
        ("http://git.example.org", "https://"),
        ("http://notlocalhost", "https://"),
        ("http://127.0.0.1:3000", "IP address"),
        ("https://[::1]:3000", "IP address"),
        ("https://", "host name"),
        ("https://[half", "host name"),
        ("https://host:port", "host name"),
    ],
)
def test_a_url_that_cannot_have_passkeys_is_reported(root: str, problem: str) -> None:
    """Plain HTTP, IP addresses and invalid URLs raise PasskeysUnavailable with the reason."""
    with pytest.raises(PasskeysUnavailable, match=problem):
        RelyingParty.at(root)


def test_a_new_passkey_is_discoverable_and_verifies_the_user() -> None:
    """The options exclude existing credentials and require a resident key and user verification."""
    asked = json.loads(creation_options(new_challenge()))
    assert asked["rp"] == {"id": "localhost", "name": "Holdfast"}
    assert asked["user"] == {"id": encoded(b"h" * 32), "name": "ada", "displayName": "ada"}
    assert asked["authenticatorSelection"]["residentKey"] == "required"
    assert asked["authenticatorSelection"]["userVerification"] == "required"
    assert asked["attestation"] == "none"
    assert [credential["id"] for credential in asked["excludeCredentials"]] == [encoded(b"old")]
    anybody = json.loads(PARTY.request_options(new_challenge(), verify_user=True))
    assert (anybody["rpId"], anybody["allowCredentials"], anybody["userVerification"]) == (
        "localhost",
        [],
        "required",
    )
    somebody = json.loads(
        PARTY.request_options(new_challenge(), credential_ids=[encoded(b"x")], verify_user=False)
    )
    assert [credential["id"] for credential in somebody["allowCredentials"]] == [encoded(b"x")]
    assert somebody["userVerification"] == "preferred"


@pytest.mark.parametrize(
    "key",
    [
        SoftwareAuthenticator(origin="http://localhost:3001"),
        SoftwareAuthenticator(origin="https://evil.example"),
        SoftwareAuthenticator(verifies_user=False),
        SoftwareAuthenticator(is_present=False),
        SoftwareAuthenticator(credential_id=b"x" * 1024),
    ],
    ids=["port", "origin", "unverified", "absent", "long id"],
)
def test_a_registration_elsewhere_or_without_the_user_is_refused(key: SoftwareAuthenticator) -> None:
    """A wrong origin, a missing user and a credential id longer than the standard allows are refused."""
    challenge = new_challenge()
    with pytest.raises(PasskeyRefused):
        PARTY.verify_registration(PasskeyResponse.read(key.create(creation_options(challenge))), challenge)


def test_a_signature_is_verified() -> None:
    """A valid signature returns its counter; one of another key, host, challenge or kind is refused."""
    key = SoftwareAuthenticator(counter=7)
    public_key = registered(key)
    challenge = new_challenge()
    options = PARTY.request_options(challenge, verify_user=True)
    response = PasskeyResponse.read(key.get(options))
    assert response.challenge == challenge
    assert PARTY.verify_signature(response, challenge, public_key=public_key, verify_user=True).sign_count == 8
    other = registered(SoftwareAuthenticator())
    foreign = RelyingParty.at("https://git.example.org")
    created = PasskeyResponse.read(key.create(creation_options(challenge)))
    for verify in (
        lambda: PARTY.verify_signature(response, challenge, public_key=other, verify_user=True),
        lambda: PARTY.verify_signature(response, new_challenge(), public_key=public_key, verify_user=True),
        lambda: PARTY.verify_signature(created, challenge, public_key=public_key, verify_user=True),
        lambda: foreign.verify_signature(response, challenge, public_key=public_key, verify_user=True),
        lambda: PARTY.verify_registration(response, challenge),
    ):
        with pytest.raises(PasskeyRefused):
            verify()


def test_the_user_is_verified_where_it_is_asked_for() -> None:
    """User verification is required only where it is requested, and user presence always."""
    key = SoftwareAuthenticator()
    public_key = registered(key)
    key.verifies_user = False
    challenge = new_challenge()
    response = PasskeyResponse.read(key.get(PARTY.request_options(challenge, verify_user=False)))
    assert PARTY.verify_signature(response, challenge, public_key=public_key, verify_user=False).sign_count == 0
    with pytest.raises(PasskeyRefused):
        PARTY.verify_signature(response, challenge, public_key=public_key, verify_user=True)
    key.is_present = False
    absent = PasskeyResponse.read(key.get(PARTY.request_options(challenge, verify_user=False)))
    with pytest.raises(PasskeyRefused):
        PARTY.verify_signature(absent, challenge, public_key=public_key, verify_user=False)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "[" * 100_000, '{"id": 1}', "\ud800", "\0"])
def test_an_invalid_response_is_refused(text: str) -> None:
    """Text that is not a valid response raises PasskeyRefused."""
    with pytest.raises(PasskeyRefused):
        PasskeyResponse.read(text)


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b'{"challenge": 1}', b"\xff"])
def test_client_data_without_a_challenge_is_refused(content: bytes) -> None:
    """Client data without a challenge, or that is not base64, raises PasskeyRefused when it is read."""
    created = {"id": "x", "rawId": "x", "type": "public-key", "response": {"clientDataJSON": encoded(content)}}
    with pytest.raises(PasskeyRefused):
        PasskeyResponse.read(json.dumps(created)).challenge  # noqa: B018  # it is read
    created["response"] = {"clientDataJSON": "no base64 é"}
    with pytest.raises(PasskeyRefused):
        PasskeyResponse.read(json.dumps(created)).challenge  # noqa: B018  # it is read


def test_secrets_are_not_in_the_repr() -> None:
    """The repr of a response omits all its values, as a fresh response can be used to log in."""
    response = PasskeyResponse.read(SoftwareAuthenticator().get(PARTY.request_options("eA", verify_user=True)))
    inner = response.response
    for value in (response.id, inner.client_data, inner.authenticator_data, inner.signature):
        assert value
        assert value not in repr(response) + repr(inner)
    assert decoded(encoded(b"\xff\xfe\xfd")) == b"\xff\xfe\xfd"


@given(st.data())
def test_damaged_responses_are_refused(data: st.DataObject) -> None:
    """A response with a changed byte or a cut field is refused, and raises no other error."""
    key = SoftwareAuthenticator()
    challenge = new_challenge()
    public_key = registered(key)
    created = json.loads(key.create(creation_options(challenge)))
    signed = json.loads(key.get(PARTY.request_options(challenge, verify_user=True)))
    credential = data.draw(st.sampled_from([created, signed]))
    name = data.draw(st.sampled_from(sorted(set(credential["response"]) - {"userHandle"})))
    content = bytearray(decoded(credential["response"][name]))
    # Signatures are not all of the same length.
    position = data.draw(st.integers(0, 2**16)) % len(content)
    if data.draw(st.booleans()):
        content[position] ^= data.draw(st.integers(1, 255))
    else:
        del content[position:]
    credential["response"][name] = encoded(bytes(content))
    response = PasskeyResponse.read(json.dumps(credential))
    try:
        if credential is created:
            PARTY.verify_registration(response, challenge)
        else:
            PARTY.verify_signature(response, challenge, public_key=public_key, verify_user=True)
    except PasskeyRefused:
        return
    # Attestation is not asked for, so nothing vouches for the key, its id, or spaces in the client data.
    assert credential is created
