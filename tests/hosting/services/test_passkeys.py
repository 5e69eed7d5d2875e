"""Passkeys of users: add, rename and remove."""

import json
from collections.abc import Callable

import pyotp
import pytest

from holdfast.hosting.access import ANONYMOUS, OPERATOR, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    ChallengeExpired,
    HostingError,
    InvalidField,
    LoginRequired,
    NoSuchPasskey,
    PasskeyRefused,
    PasswordRequired,
    SessionRequired,
    TooManyPasskeys,
    TwoFactorDisabled,
    WrongCode,
)
from holdfast.hosting.relying_party import RelyingParty, encoded
from holdfast.hosting.services import passkeys, two_factor
from holdfast.hosting.services.two_factor import PasskeyProof
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from tests.hosting.passkey_helpers import ROOT, SoftwareAuthenticator, add_passkey

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
PARTY = RelyingParty.at(ROOT)
NOW = 1_700_000_025.0


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"))


def proof(app: App, user: Account, key: SoftwareAuthenticator) -> PasskeyProof:
    """Return the proof of a passkey that confirms a change."""
    return PasskeyProof(PARTY, key.get(passkeys.confirmation_options(app, Actor(user), PARTY, "")))


def passkey_names(app: App, user: Account) -> list[str]:
    """Return the names of a user's passkeys."""
    return [passkey.name for passkey in passkeys.list_passkeys(app, Actor(user))]


def test_the_first_passkey_enables_two_factor_authentication(app: App, ada: Account) -> None:
    """The first passkey comes with ten recovery codes; further passkeys and the app bring no new ones.

    A recovery code is accepted as one of the app would be.
    """
    key, codes = add_passkey(app, ada, "  My \0 phone ")
    assert len(codes) == 10
    assert passkey_names(app, ada) == ["My phone"]
    status = two_factor.status_of(app, ada)
    assert (status.is_enabled, status.codes_left, status.has_app, status.passkeys) == (True, 10, False, 1)
    asked = json.loads(passkeys.creation_options(app, Actor(ada, by_password=True), PARTY, ""))
    assert [credential["id"] for credential in asked["excludeCredentials"]] == [encoded(key.credential_id)]
    other, none = add_passkey(app, ada, "Key")
    assert none == []
    assert other.user_handle == key.user_handle
    two_factor.check(app, ada, codes[0])
    with pytest.raises(WrongCode):
        two_factor.check(app, ada, Secret("123456"))
    secret = two_factor.begin(app, Actor(ada, by_password=True), "").secret
    code = Secret(pyotp.TOTP(secret).at(int(NOW)))
    assert two_factor.confirm(app, Actor(ada), code, now=NOW) == []
    status = two_factor.status_of(app, ada)
    assert (status.codes_left, status.has_app, status.passkeys) == (9, True, 2)
    for created_at in (1000, 2**40):
        with app.database.write() as connection:
            connection.exec_driver_sql(f"UPDATE passkeys SET created_at = {created_at}")
        assert (two_factor.status_of(app, ada).enabled_at == 1000) == (created_at == 1000)
        assert two_factor.status_of(app, ada).enabled_at < 2**40


def test_a_passkey_beside_an_app_brings_no_recovery_codes(app: App, ada: Account) -> None:
    """The recovery codes of the app stay, and a passkey can confirm the removal of the app."""
    secret = two_factor.begin(app, Actor(ada, by_password=True), "").secret
    assert two_factor.confirm(app, Actor(ada), Secret(pyotp.TOTP(secret).at(int(NOW))), now=NOW)
    key, codes = add_passkey(app, ada)
    assert codes == []
    actor = Actor(ada, by_password=True)
    assert two_factor.disable(app, actor, proof(app, ada, key))
    assert two_factor.status_of(app, ada).codes_left == 10
    with pytest.raises(TwoFactorDisabled):
        two_factor.disable(app, actor, proof(app, ada, key))
    assert len(two_factor.replace_recovery_codes(app, actor, proof(app, ada, key))) == 10


def test_a_challenge_is_for_the_user_who_gave_their_password(app: App, ada: Account) -> None:
    """A challenge adds one passkey of its user within its lifetime, and confirmations cannot be used for it."""
    eve = accounts.create_user(app.database, "eve", Secret("correct horse"))
    key = SoftwareAuthenticator()
    response = key.create(passkeys.creation_options(app, Actor(ada, by_password=True), PARTY, ""))
    with pytest.raises(ChallengeExpired):
        passkeys.add(app, Actor(eve), PARTY, "Phone", response)
    with pytest.raises(InvalidField):
        passkeys.add(app, Actor(ada), PARTY, " ", response)
    with pytest.raises(InvalidField):
        passkeys.add(app, Actor(ada), PARTY, "x" * 101, response)
    assert len(passkeys.add(app, Actor(ada), PARTY, "x" * 100, response)) == 10
    with pytest.raises(ChallengeExpired):
        passkeys.add(app, Actor(ada), PARTY, "Phone", response)
    late = SoftwareAuthenticator().create(
        passkeys.creation_options(app, Actor(ada, by_password=True), PARTY, "", now=NOW)
    )
    with pytest.raises(ChallengeExpired):
        passkeys.add(app, Actor(ada), PARTY, "Phone", late)
    signed = key.get(passkeys.confirmation_options(app, Actor(ada), PARTY, ""))
    with pytest.raises(ChallengeExpired):
        passkeys.add(app, Actor(ada), PARTY, "Phone", signed)


def test_a_user_has_a_limited_number_of_passkeys(app: App, ada: Account) -> None:
    """At the limit no options for the creation of another passkey are returned."""
    for number in range(passkeys.MOST):
        add_passkey(app, ada, f"Key {number}")
    asked = passkeys.confirmation_options(app, Actor(ada), PARTY, "")
    assert len(json.loads(asked)["allowCredentials"]) == passkeys.MOST
    with pytest.raises(TooManyPasskeys):
        passkeys.creation_options(app, Actor(ada, by_password=True), PARTY, "")


def test_a_passkey_is_renamed_and_removed_by_its_user(app: App, ada: Account) -> None:
    """Removing a passkey needs a recovery code or a signature of a passkey of the same user.

    Removing the last one disables two-factor authentication.
    """
    eve = accounts.create_user(app.database, "eve", Secret("correct horse"))
    key, codes = add_passkey(app, ada)
    other, _ = add_passkey(app, ada, "Key")
    foreign, _ = add_passkey(app, eve)
    first, second = passkeys.list_passkeys(app, Actor(ada))
    assert passkeys.rename(app, Actor(ada), first.id, " Tablet ") == "Tablet"
    for user, number in ((eve, first.id), (ada, 0)):
        with pytest.raises(NoSuchPasskey):
            passkeys.rename(app, Actor(user), number, "Mine")
    with pytest.raises(InvalidField):
        passkeys.rename(app, Actor(ada), first.id, "")
    assert passkey_names(app, ada) == ["Tablet", "Key"]
    actor = Actor(ada, by_password=True)
    with pytest.raises(NoSuchPasskey):
        passkeys.remove(app, Actor(eve, by_password=True), first.id, proof(app, eve, foreign))
    with pytest.raises(WrongCode):
        passkeys.remove(app, actor, first.id, Secret("wrong"))
    with pytest.raises(PasskeyRefused):
        response = foreign.get(passkeys.confirmation_options(app, Actor(ada), PARTY, ""))
        passkeys.remove(app, actor, first.id, PasskeyProof(PARTY, response))
    assert passkeys.remove(app, actor, first.id, proof(app, ada, other)) == passkeys.RemovedPasskey("Tablet", True)
    with pytest.raises(PasskeyRefused):
        two_factor.replace_recovery_codes(app, actor, proof(app, ada, key))
    removed = passkeys.remove(app, actor, second.id, codes[0])
    assert removed == passkeys.RemovedPasskey("Key", False)
    assert two_factor.status_of(app, ada) == two_factor.TwoFactorStatus(0, 0)


def test_users_change_their_passkeys_in_person_and_with_their_password(app: App, ada: Account) -> None:
    """Tokens and administrators who impersonate the user are refused.

    The operator removes all passkeys together with two-factor authentication.
    """
    token, _ = tokens.create_token(app.database, ada, "ci", ("all",))
    admin = accounts.find_user(app.database, "admin")
    key, _ = add_passkey(app, ada)
    (passkey,) = passkeys.list_passkeys(app, Actor(ada))
    refused: tuple[tuple[Actor, type[HostingError]], ...] = (
        (ANONYMOUS, LoginRequired),
        (Actor(ada, token), SessionRequired),
        (Actor(ada, impersonated_by=admin, by_password=True), SessionRequired),
    )
    acts: tuple[Callable[[Actor], object], ...] = (
        lambda actor: passkeys.list_passkeys(app, actor),
        lambda actor: passkeys.creation_options(app, actor, PARTY, ""),
        lambda actor: passkeys.confirmation_options(app, actor, PARTY, ""),
        lambda actor: passkeys.add(app, actor, PARTY, "x", "{}"),
        lambda actor: passkeys.rename(app, actor, passkey.id, "x"),
        lambda actor: passkeys.remove(app, actor, passkey.id, Secret("x")),
    )
    for actor, error in refused:
        for act in acts:
            with pytest.raises(error):
                act(actor)
    with pytest.raises(PasswordRequired):
        passkeys.creation_options(app, Actor(ada), PARTY, "")
    with pytest.raises(PasswordRequired):
        passkeys.remove(app, Actor(ada), passkey.id, proof(app, ada, key))
    two_factor.remove_for(app, OPERATOR, ada)
    assert passkey_names(app, ada) == []
    assert not two_factor.is_enabled(app, ada)
