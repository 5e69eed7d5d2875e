"""Authentication with passkeys: challenges, signatures, counters and limits."""

import json

import pytest
from structlog.testing import capture_logs

from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    ChallengeExpired,
    PasskeyCounterReversed,
    PasskeyRefused,
    TooManyChallenges,
)
from holdfast.hosting.relying_party import RelyingParty, encoded
from holdfast.hosting.services import maintenance, passkey_authentication
from holdfast.hosting.services.passkey_authentication import LIFETIME, ChallengePurpose
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from tests.hosting.passkey_helpers import ROOT, SoftwareAuthenticator, add_passkey

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
PARTY = RelyingParty.at(ROOT)
ADDRESS = "192.0.2.7"


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"))


def request_options(
    app: App,
    purpose: ChallengePurpose = ChallengePurpose.LOGIN,
    user: Account | None = None,
    *,
    address: str = ADDRESS,
    now: float | None = None,
) -> bytes:
    """Ask for the options of a signature."""
    return passkey_authentication.request_options(app, PARTY, purpose, user, address, now=now)


def verify(
    app: App,
    output: str,
    purpose: ChallengePurpose = ChallengePurpose.LOGIN,
    user: Account | None = None,
    now: float | None = None,
) -> Account:
    """Verify a response."""
    return passkey_authentication.verify(app, PARTY, purpose, user, output, address=ADDRESS, now=now)


def test_a_passkey_identifies_its_user(app: App, ada: Account) -> None:
    """A response is accepted once, and a new one afterwards."""
    key, _ = add_passkey(app, ada)
    response = key.get(request_options(app))
    assert verify(app, response) == ada
    with pytest.raises(ChallengeExpired):
        verify(app, response)
    assert verify(app, key.get(request_options(app))) == ada


@pytest.mark.parametrize("purpose", [ChallengePurpose.SECOND_FACTOR, ChallengePurpose.CONFIRMATION])
def test_a_user_is_offered_their_own_passkeys(app: App, ada: Account, purpose: ChallengePurpose) -> None:
    """As a second factor, user presence is enough where the passkey cannot verify its user.

    Passkeys of other users are refused, and a user without passkeys gets no challenge.
    """
    eve = accounts.create_user(app.database, "eve", Secret("correct horse"))
    with pytest.raises(PasskeyRefused):
        request_options(app, purpose, ada)
    key, _ = add_passkey(app, ada)
    foreign, _ = add_passkey(app, eve)
    options = request_options(app, purpose, ada)
    assert json.loads(options)["userVerification"] == "preferred"
    assert json.loads(request_options(app))["userVerification"] == "required"
    assert [credential["id"] for credential in json.loads(options)["allowCredentials"]] == [
        encoded(key.credential_id)
    ]
    with pytest.raises(PasskeyRefused):
        verify(app, foreign.get(options), purpose, ada)
    key.verifies_user = False
    assert verify(app, key.get(request_options(app, purpose, ada)), purpose, ada) == ada
    with pytest.raises(PasskeyRefused):
        verify(app, key.get(request_options(app)))


def test_a_challenge_is_for_one_purpose_one_user_and_a_short_time(app: App, ada: Account) -> None:
    """A signature for one purpose or user is refused for another, and after the lifetime of its challenge."""
    eve = accounts.create_user(app.database, "eve", Secret("correct horse"))
    key, _ = add_passkey(app, ada)
    add_passkey(app, eve)
    for options, purpose, user in (
        (request_options(app), ChallengePurpose.SECOND_FACTOR, ada),
        (request_options(app, ChallengePurpose.SECOND_FACTOR, ada), ChallengePurpose.LOGIN, None),
        (request_options(app, ChallengePurpose.SECOND_FACTOR, ada), ChallengePurpose.CONFIRMATION, ada),
        (request_options(app, ChallengePurpose.SECOND_FACTOR, eve), ChallengePurpose.SECOND_FACTOR, ada),
    ):
        with pytest.raises(ChallengeExpired):
            verify(app, key.get(options), purpose, user)
    late = key.get(request_options(app, now=1000))
    with pytest.raises(ChallengeExpired):
        verify(app, late, now=1000 + LIFETIME)
    in_time = key.get(request_options(app, now=1000))
    assert verify(app, in_time, now=999 + LIFETIME) == ada


def test_a_response_that_is_not_of_the_passkey_is_refused(app: App, ada: Account) -> None:
    """A failed response uses up its challenge.

    Another user handle is refused, and so is a missing one for a login without a user name.
    """
    key, _ = add_passkey(app, ada)
    stranger = SoftwareAuthenticator(credential_id=key.credential_id, user_handle=key.user_handle)
    response = stranger.get(request_options(app))
    with pytest.raises(PasskeyRefused):
        verify(app, response)
    with pytest.raises(ChallengeExpired):
        verify(app, response)
    with pytest.raises(PasskeyRefused):
        verify(app, SoftwareAuthenticator(user_handle=key.user_handle).get(request_options(app)))
    with pytest.raises(PasskeyRefused):
        verify(app, "{}")
    handle, key.user_handle = key.user_handle, encoded(b"somebody else")
    with pytest.raises(PasskeyRefused):
        verify(app, key.get(request_options(app)))
    key.user_handle = handle
    without = json.loads(key.get(request_options(app)))
    del without["response"]["userHandle"]
    with pytest.raises(PasskeyRefused):
        verify(app, json.dumps(without))
    second = json.loads(key.get(request_options(app, ChallengePurpose.SECOND_FACTOR, ada)))
    del second["response"]["userHandle"]
    assert verify(app, json.dumps(second), ChallengePurpose.SECOND_FACTOR, ada) == ada


def test_a_counter_that_goes_backwards_is_refused_and_logged(app: App, ada: Account) -> None:
    """A reversed counter is logged only after the signature was verified, so that nobody can fill the log.

    The original passkey, whose counter is higher, works afterwards.
    """
    key, _ = add_passkey(app, ada, key=SoftwareAuthenticator(counter=10))
    assert verify(app, key.get(request_options(app))) == ada
    copy = SoftwareAuthenticator(
        counter=5, key=key.key, credential_id=key.credential_id, user_handle=key.user_handle
    )
    with capture_logs() as logged, pytest.raises(PasskeyCounterReversed):
        verify(app, copy.get(request_options(app)))
    (event,) = logged
    assert (event["event"], event["log_level"], event["user"]) == (
        "signature counter of a passkey went backwards",
        "warning",
        ada.id,
    )
    forged = SoftwareAuthenticator(counter=1, credential_id=key.credential_id, user_handle=key.user_handle)
    with capture_logs() as logged, pytest.raises(PasskeyRefused):
        verify(app, forged.get(request_options(app)))
    assert logged == []
    assert verify(app, key.get(request_options(app))) == ada


def test_challenges_are_limited_for_each_address(app: App, ada: Account) -> None:
    """Answered challenges do not count, other addresses are not affected, and expired ones are deleted."""
    key, _ = add_passkey(app, ada)
    limit = app.settings.login_failures * 10
    assert verify(app, key.get(request_options(app))) == ada
    for _ in range(limit):
        request_options(app)
    with pytest.raises(TooManyChallenges) as excinfo:
        request_options(app)
    assert 0 < excinfo.value.seconds <= app.settings.login_failure_minutes * 60
    request_options(app, address="192.0.2.8")
    with app.database.read() as connection:
        stored = connection.exec_driver_sql("SELECT count(*) FROM passkey_challenges").scalar_one()
    assert stored <= limit + 3
    maintenance.clean(app, now=2_000_000_000_000)
    with app.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM passkey_challenges").scalar_one() == 0
