"""Checks of the secrets at rest."""

from holdfast.hosting.app import App
from holdfast.hosting.doctor import disk, secrets
from holdfast.hosting.doctor.checks import examine, repair
from holdfast.hosting.doctor.findings import FindingKind
from holdfast.hosting.store import hooks
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.hooks import HookOwner


def add_hook(app: App, **columns: str) -> int:
    """Make a hook of the whole service."""
    needed = {"type": "gitea", "url": "https://ci.example", "content_type": "json", "events": "push"}
    return hooks.add_hook(app.database, HookOwner("service"), {**needed, **columns}).id


def test_secrets_that_can_be_opened_are_no_finding(app: App) -> None:
    """Neither are hooks without any, for which no key is needed."""
    add_hook(app)
    assert list(secrets.sealed(app)) == []
    add_hook(app, secret=app.sealer.seal("x"), authorization=app.sealer.seal("y"))
    assert list(secrets.sealed(app)) == []


def test_a_secret_of_another_key_is_found(app: App) -> None:
    """By the number of its hook; only a person can bring the key back."""
    app.sealer.seal("makes the key")
    number = add_hook(app, authorization="gAAAAAnonsense")
    add_hook(app, secret=app.sealer.seal("x"))
    (finding,) = secrets.sealed(app)
    assert (finding.kind, finding.where, finding.repair) == (FindingKind.SEAL, f"webhook {number}", None)


def test_a_key_that_is_gone_is_said_once(app: App) -> None:
    """However many secrets there are; and no new one is made, which would open none of them."""
    for _ in range(2):
        add_hook(app, secret=app.sealer.seal("x"))
    path = app.settings.data / KEY_FILE
    path.unlink()
    fresh = App.open(app.settings)
    found = [finding for finding in examine(fresh) if finding.kind is FindingKind.KEY]
    fresh.close()
    assert [finding.where for finding in found] == [str(path)]
    assert not path.exists()


def test_a_key_others_can_read_is_closed(app: App) -> None:
    """It is worth as much as all secrets together."""
    app.sealer.seal("makes the key")
    path = app.settings.data / KEY_FILE
    path.chmod(0o644)
    (finding,) = disk.check_permissions(app)
    assert (finding.kind, finding.where) == (FindingKind.PERMISSIONS, str(path))
    assert repair(finding)
    assert path.stat().st_mode & 0o777 == 0o600
