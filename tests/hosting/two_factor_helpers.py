"""Helpers that enable two-factor authentication of users."""

import time

import pyotp

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.services import two_factor
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["give_second_factor"]


def give_second_factor(settings: Settings, user: Account) -> tuple[str, list[Secret]]:
    """Enable two-factor authentication of a user an hour ago; return the secret and the recovery codes."""
    app = App.open(settings)
    try:
        secret = two_factor.begin(app, Actor(user, by_password=True), "").secret
        before = time.time() - 3600
        code = Secret(pyotp.TOTP(secret).at(int(before)))
        return secret, two_factor.confirm(app, Actor(user), code, now=before)
    finally:
        app.close()
