"""Two-factor authentication: enrolment, codes, rate limits, recovery codes and removal."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pyotp
import pytest
from hypothesis import settings as configuration
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import select

from holdfast.hosting.access import ANONYMOUS, OPERATOR, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    LoginRequired,
    PasswordRequired,
    SessionRequired,
    TooManyCodes,
    TwoFactorDisabled,
    TwoFactorEnabled,
    WrongCode,
)
from holdfast.hosting.services import two_factor
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.tables import two_factor as table
from holdfast.secret import Secret
from tests.examples import examples
from tests.hosting.repository_helpers import make_people

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
# In the middle of a time step.
NOW = 1_700_000_025.0


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"))


def code(secret: str, now: float = NOW) -> Secret:
    """Return the code that an authenticator app shows."""
    return Secret(pyotp.TOTP(secret).at(int(now)))


def enable(app: App, user: Account, now: float = NOW) -> tuple[str, list[Secret]]:
    """Enable two-factor authentication, and return the secret and the recovery codes."""
    secret = two_factor.begin(app, Actor(user, by_password=True), "host.example").secret
    return secret, two_factor.confirm(app, Actor(user), code(secret, now), now=now)


def test_two_factor_authentication_is_enabled_by_a_code(app: App, ada: Account) -> None:
    """The secret is stored encrypted, and the URI has the names of the user and the host.

    A confirmed secret comes with ten recovery codes and cannot be replaced.
    """
    pending = two_factor.begin(app, Actor(ada, by_password=True), "git.example.org")
    assert pending.uri.startswith("otpauth://totp/Holdfast:ada%40git.example.org?secret=")
    assert pending.secret in pending.uri
    assert pending.secret not in repr(pending)
    assert two_factor.enrolment_of(app, Actor(ada), "git.example.org") == pending
    assert not two_factor.is_enabled(app, ada)
    assert two_factor.status_of(app, ada) == two_factor.TwoFactorStatus(0, 0)
    with app.database.read() as connection:
        (stored,) = connection.execute(select(table.c.secret)).scalars()
    assert pending.secret not in stored
    assert app.cipher.decrypt(stored) == pending.secret
    with pytest.raises(WrongCode):
        two_factor.confirm(app, Actor(ada), Secret("wrong"), now=NOW)
    codes = two_factor.confirm(app, Actor(ada), code(pending.secret), now=NOW)
    assert len({code.reveal() for code in codes}) == 10
    assert {len(code.reveal()) for code in codes} == {16}
    assert two_factor.is_enabled(app, ada)
    assert two_factor.status_of(app, ada).codes_left == 10
    assert two_factor.enrolment_of(app, Actor(ada), "") is None
    for again in (
        lambda: two_factor.begin(app, Actor(ada, by_password=True), ""),
        lambda: two_factor.confirm(app, Actor(ada), code(pending.secret), now=NOW),
    ):
        with pytest.raises(TwoFactorEnabled):
            again()


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
def test_the_clock_may_differ_by_one_step(app: App, ada: Account, offset: int) -> None:
    """A code of the previous or the next time step is accepted, and one that is two steps off is not."""
    secret, _ = enable(app, ada, now=NOW - 300)
    shown = code(secret, NOW + offset * 30)
    if abs(offset) > 1:
        with pytest.raises(WrongCode):
            two_factor.check(app, ada, shown, now=NOW)
    else:
        two_factor.check(app, ada, shown, now=NOW)


def test_a_code_is_accepted_once(app: App, ada: Account) -> None:
    """A used code and earlier ones are refused, as is the code of the enrolment; a recovery code works once."""
    secret, codes = enable(app, ada)
    for seconds, is_right in ((0, False), (-30, False), (30, True), (30, False), (0, False)):
        if is_right:
            two_factor.check(app, ada, code(secret, NOW + seconds), now=NOW)
        else:
            with pytest.raises(WrongCode):
                two_factor.check(app, ada, code(secret, NOW + seconds), now=NOW)
    two_factor.check(app, ada, codes[0], now=NOW)
    with pytest.raises(WrongCode):
        two_factor.check(app, ada, codes[0], now=NOW)


def test_a_code_is_typed_as_people_type_it(app: App, ada: Account) -> None:
    """Spaces, hyphens and capitals in a code are ignored, and malformed codes are refused as wrong ones."""
    secret, codes = enable(app, ada, now=NOW - 300)
    shown = code(secret).reveal()
    for wrong in ("", " ", "1" * 5, "1" * 7, "x" * 5000, "\0", "١٢٣٤٥٦", codes[0].reveal()[:-1]):
        with pytest.raises(WrongCode):
            two_factor.check(app, ada, Secret(wrong), now=NOW)
    two_factor.check(app, ada, Secret(f" {shown[:3]} {shown[3:]} "), now=NOW)
    recovery = codes[0].reveal().upper()
    two_factor.check(app, ada, Secret(f"{recovery[:4]}-{recovery[4:]}"), now=NOW)


def test_guesses_are_limited_for_each_user(app: App, ada: Account) -> None:
    """Concurrent wrong codes of a user are limited, and other users are not affected.

    A right code clears the count, and the limit ends after its time window.
    """
    limit = app.settings.login_failures
    secret, codes = enable(app, ada, now=NOW - 300)
    eve = accounts.create_user(app.database, "eve", Secret("correct horse"))
    _, others = enable(app, eve, now=NOW - 300)
    for _ in range(limit - 1):
        with pytest.raises(WrongCode):
            two_factor.check(app, ada, Secret("wrong"), now=NOW)
    two_factor.check(app, ada, codes[0], now=NOW)

    def guess(_: int) -> type[Exception]:
        with pytest.raises((WrongCode, TooManyCodes)) as excinfo:
            two_factor.check(app, ada, Secret("wrong"), now=NOW)
        return excinfo.type

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(guess, range(limit * 2))).count(WrongCode) == limit
    with pytest.raises(TooManyCodes) as excinfo:
        two_factor.check(app, ada, code(secret), now=NOW)
    assert 0 < excinfo.value.seconds <= app.settings.login_failure_minutes * 60
    assert "codes" in str(excinfo.value)
    assert two_factor.status_of(app, ada).codes_left == 9
    two_factor.check(app, eve, others[0], now=NOW)
    later = NOW + app.settings.login_failure_minutes * 60
    two_factor.check(app, ada, code(secret, later), now=later)


def test_the_confirmation_is_limited_too(app: App, ada: Account) -> None:
    """After too many wrong codes even the right one does not confirm a new secret, as with a login."""
    pending = two_factor.begin(app, Actor(ada, by_password=True), "")
    for _ in range(app.settings.login_failures):
        with pytest.raises(WrongCode):
            two_factor.confirm(app, Actor(ada), Secret("wrong"), now=NOW)
    with pytest.raises(TooManyCodes):
        two_factor.confirm(app, Actor(ada), code(pending.secret), now=NOW)
    assert not two_factor.is_enabled(app, ada)


def test_changes_require_a_session_and_the_password(app: App, ada: Account) -> None:
    """Tokens and administrators who impersonate the user are refused.

    A session without the password can only confirm an enrolment.
    """
    token, _ = tokens.create_token(app.database, ada, "ci", ("all",))
    admin = accounts.find_user(app.database, "admin")
    enable(app, ada)
    for actor, error in (
        (ANONYMOUS, LoginRequired),
        (Actor(ada, token), SessionRequired),
        (Actor(ada, impersonated_by=admin, by_password=True), SessionRequired),
        (Actor(ada), PasswordRequired),
    ):
        with pytest.raises(error):
            two_factor.begin(app, actor, "")
        with pytest.raises(error):
            two_factor.disable(app, actor, Secret("x"))
        with pytest.raises(error):
            two_factor.replace_recovery_codes(app, actor, Secret("x"))
        if error is not PasswordRequired:
            with pytest.raises(error):
                two_factor.confirm(app, actor, Secret("x"))
            with pytest.raises(error):
                two_factor.enrolment_of(app, actor, "")


def test_changes_require_a_valid_code(app: App, ada: Account) -> None:
    """A wrong code neither disables the app nor replaces the recovery codes; a pending secret is not enabled."""
    actor = Actor(ada, by_password=True)
    two_factor.begin(app, actor, "")
    with pytest.raises(TwoFactorDisabled):
        two_factor.disable(app, actor, Secret("wrong"), now=NOW)
    secret, codes = enable(app, ada, now=NOW - 300)
    for change in (two_factor.disable, two_factor.replace_recovery_codes):
        with pytest.raises(WrongCode):
            change(app, actor, Secret("wrong"), now=NOW)
    assert two_factor.status_of(app, ada).codes_left == 10
    replaced = two_factor.replace_recovery_codes(app, actor, codes[0], now=NOW)
    with pytest.raises(WrongCode):
        two_factor.check(app, ada, codes[1], now=NOW)
    two_factor.check(app, ada, replaced[1], now=NOW)
    assert not two_factor.disable(app, actor, code(secret), now=NOW)
    assert not two_factor.is_enabled(app, ada)


def test_administrators_disable_two_factor_authentication(app: App, ada: Account) -> None:
    """An administrator disables it for another user; users cannot, and it is an error where it is disabled."""
    enable(app, ada)
    with pytest.raises(Forbidden):
        two_factor.remove_for(app, Actor(ada), ada)
    assert two_factor.is_enabled(app, ada)
    two_factor.remove_for(app, Actor(accounts.find_user(app.database, "admin")), ada)
    assert not two_factor.is_enabled(app, ada)
    with pytest.raises(TwoFactorDisabled):
        two_factor.remove_for(app, OPERATOR, ada)
    with pytest.raises(TwoFactorDisabled):
        two_factor.check(app, ada, Secret("123456"))
    with pytest.raises(TwoFactorDisabled):
        two_factor.confirm(app, Actor(ada), Secret("123456"))


class TwoFactor(RuleBasedStateMachine):
    """Random sequences of operations at random times, compared with a model."""

    app: App
    count = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).count += 1
        (self.user,) = make_people(self.app.database, f"user{self.count}")
        self.actor = Actor(self.user, by_password=True)
        self.now = NOW
        self.pending = ""
        self.secret = ""
        self.last_step = 0
        self.codes: list[Secret] = []
        self.used: list[Secret] = []

    @property
    def step(self) -> int:
        """The current time step."""
        return int(self.now) // 30

    def matching(self, secret: str, offset: int) -> set[int]:
        """Return the time steps near now whose code is that of an offset: two steps can share one by chance."""
        shown = code(secret, self.now + offset * 30).reveal()
        near = range(self.step - 1, self.step + 2)
        return {step for step in near if code(secret, step * 30).reveal() == shown}

    @rule(seconds=st.integers(0, 100))
    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.now += seconds

    @rule()
    def begin(self) -> None:
        """Request a new secret."""
        if self.secret:
            with pytest.raises(TwoFactorEnabled):
                two_factor.begin(self.app, self.actor, "")
        else:
            self.pending = two_factor.begin(self.app, self.actor, "").secret

    @precondition(lambda self: self.pending)
    @rule(offset=st.sampled_from([0, 0, 0, -1, 1, -2, 2, 3]))
    def confirm(self, offset: int) -> None:
        """Confirm the secret with the code of a time step."""
        steps = self.matching(self.pending, offset)
        shown = code(self.pending, self.now + offset * 30)
        if not steps:
            with pytest.raises(WrongCode):
                two_factor.confirm(self.app, self.actor, shown, now=self.now)
            return
        self.codes = two_factor.confirm(self.app, self.actor, shown, now=self.now)
        self.secret, self.pending, self.last_step = self.pending, "", max(steps)

    @precondition(lambda self: self.secret)
    @rule(offset=st.integers(-2, 2), use=st.sampled_from(["check", "check", "check", "codes", "disable"]))
    def use(self, offset: int, use: str) -> None:
        """Use the code of a time step, which may have been used before."""
        steps = self.matching(self.secret, offset)
        is_right = bool(steps) and max(steps) > self.last_step
        self.attempt(code(self.secret, self.now + offset * 30), use, is_right=is_right)
        if is_right and self.secret:
            self.last_step = max(steps)

    @precondition(lambda self: self.secret and self.codes)
    @rule(data=st.data(), use=st.sampled_from(["check", "check", "codes", "disable"]))
    def recover(self, data: st.DataObject, use: str) -> None:
        """Use a recovery code."""
        chosen = data.draw(st.sampled_from(self.codes))
        self.codes.remove(chosen)
        self.used.append(chosen)
        self.attempt(chosen, use, is_right=True)

    @precondition(lambda self: self.secret and self.used)
    @rule(data=st.data())
    def recover_again(self, data: st.DataObject) -> None:
        """Use a recovery code that is no longer valid."""
        self.attempt(data.draw(st.sampled_from(self.used)), "check", is_right=False)

    def attempt(self, given: Secret, use: str, *, is_right: bool) -> None:
        """Check that an operation accepts a valid code and refuses an invalid one."""
        if not is_right:
            with pytest.raises(WrongCode):
                two_factor.check(self.app, self.user, given, now=self.now)
            return
        if use == "check":
            two_factor.check(self.app, self.user, given, now=self.now)
        elif use == "codes":
            self.used += self.codes
            self.codes = two_factor.replace_recovery_codes(self.app, self.actor, given, now=self.now)
        else:
            two_factor.disable(self.app, self.actor, given, now=self.now)
            self.forget()

    @precondition(lambda self: self.secret)
    @rule()
    def remove(self) -> None:
        """Let an administrator disable two-factor authentication."""
        two_factor.remove_for(self.app, OPERATOR, self.user)
        self.forget()

    def forget(self) -> None:
        """Reset the model."""
        self.secret, self.codes, self.last_step = "", [], 0

    @invariant()
    def is_as_expected(self) -> None:
        """Compare the state with the model."""
        two_factor_status = two_factor.status_of(self.app, self.user)
        assert two_factor_status.is_enabled == bool(self.secret)
        assert two_factor_status.codes_left == len(self.codes)
        if self.pending:
            pending = two_factor.enrolment_of(self.app, self.actor, "")
            assert pending is not None
            assert pending.secret == self.pending


@pytest.mark.hypothesis
def test_any_order_of_events_leaves_a_valid_state(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A code is accepted once and near its time, a recovery code once, and none after the removal."""
    patient = dataclasses.replace(app, settings=msgspec.structs.replace(app.settings, login_failures=10_000))
    monkeypatch.setattr(TwoFactor, "app", patient, raising=False)
    monkeypatch.setattr(TwoFactor, "count", 0)
    run_state_machine_as_test(TwoFactor, settings=configuration(max_examples=examples(60), stateful_step_count=25))
