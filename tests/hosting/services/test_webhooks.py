"""Webhooks: permissions, owners, validation and test deliveries."""

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.hosting import access
from holdfast.hosting.access import (
    ANONYMOUS,
    Actor,
    Mode,
    OrganizationAccess,
    Permissions,
    RepositoryAccess,
    Unit,
    WebhookOwner,
)
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    HostingError,
    InvalidField,
    InvalidValue,
    InvalidWebhookOption,
    LoginRequired,
    NoSuchHook,
    NoSuchRef,
    NoSuchRepository,
    Permission,
    RepositoryEmpty,
    SlackChannelRequired,
    WebhooksDisabled,
)
from holdfast.hosting.services import repositories, webhooks
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.webhooks import NewWebhook, WebhookEdit
from holdfast.hosting.store import accounts, deliveries, hooks, organizations
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.deliveries import DeliveryFilter
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.hosting.repository_helpers import make_repository

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
WANTED = NewWebhook(type="gitea", url="https://ci.example/h", content_type="json")


@pytest.fixture
def ada(app: App) -> Account:
    """Add a user."""
    return accounts.create_user(app.database, "ada", Secret("correct horse"), email="ada@example.org")


@pytest.fixture
def own(ada: Account) -> WebhookOwner:
    """Return the owner of the user's own webhooks."""
    return WebhookOwner(ada)


def owners(app: App, ada: Account, mode: Mode) -> dict[str, WebhookOwner]:
    """Return an owner of each kind, with the permissions of a user who has `mode` there."""
    guild = organizations.create_organization(app.database, ada, "guild")
    ship = repositories.create(app, ada, ada, NewRepository(name="ship"))
    return {
        "repository": WebhookOwner(RepositoryAccess(ship, Permissions(mode, dict.fromkeys(Unit, mode)))),
        "organization": WebhookOwner(OrganizationAccess(guild, mode)),
        "user": WebhookOwner(ada),
        "service": WebhookOwner(None),
    }


def test_changing_webhooks_requires_permission(app: App, ada: Account) -> None:
    """Anonymous users have to log in.

    Writers of a repository, members of an organization and other users have no access to webhooks.
    """
    ben = Actor(accounts.create_user(app.database, "ben", Secret("correct horse")))
    lacking = {
        "repository": Permission.ADMIN,
        "organization": Permission.ORGANIZATION_OWNER,
        "user": Permission.SELF,
        "service": Permission.SITE_ADMIN,
    }
    for name, owner in owners(app, ada, Mode.WRITE).items():
        with pytest.raises(LoginRequired):
            webhooks.create(app, ANONYMOUS, owner, WANTED)
        for refused in (
            lambda owner=owner: webhooks.list_webhooks(app, ben, owner, skip=0, limit=1),
            lambda owner=owner: webhooks.find(app, ben, owner, 1),
            lambda owner=owner: webhooks.create(app, ben, owner, WANTED),
            lambda owner=owner: webhooks.edit(app, ben, owner, 1, WebhookEdit(name="x")),
            lambda owner=owner: webhooks.delete(app, ben, owner, 1),
            lambda owner=owner: webhooks.resume(app, ben, owner, 1),
            lambda owner=owner: webhooks.send_test(app, ben, owner, 1),
        ):
            with pytest.raises(Forbidden) as excinfo:
                refused()
            assert excinfo.value.permission == lacking[name]


def test_each_owner_has_webhooks_of_its_own(app: App, ada: Account) -> None:
    """A webhook of one owner is not found among those of another."""
    admin = accounts.find_user(app.database, "admin")
    for name, owner in owners(app, ada, Mode.OWNER).items():
        actor = Actor(admin if name == "service" else ada)
        created = webhooks.create(app, actor, owner, WANTED)
        assert [hook.id for hook in webhooks.list_webhooks(app, actor, owner, skip=0, limit=9)[0]] == [created.id]
        with pytest.raises(NoSuchHook):
            webhooks.find(app, Actor(admin), WebhookOwner(admin), created.id)


def test_disabled_webhooks_cannot_be_created(
    app: App, own: WebhookOwner, ada: Account, settings: Settings
) -> None:
    """The service itself refuses a new webhook where the settings disable webhooks."""
    app.settings = replace(settings, webhooks=False)
    with pytest.raises(WebhooksDisabled):
        webhooks.create(app, Actor(ada), own, WANTED)


@pytest.mark.parametrize(
    ("changes", "error", "named"),
    [
        ({"type": "pigeon"}, InvalidWebhookOption, "type"),
        ({"url": "ftp://ci.example"}, InvalidWebhookOption, "url"),
        ({"url": "https://ci.example/" + "x" * 2048}, InvalidWebhookOption, "url"),
        ({"content_type": "xml"}, InvalidWebhookOption, "content_type"),
        ({"is_system": None}, InvalidWebhookOption, "is_system_webhook"),
        ({"type": "slack"}, InvalidWebhookOption, "channel"),
        ({"type": "slack", "channel": " "}, SlackChannelRequired, "channel"),
        ({"secret": "x" * 2049}, InvalidValue, "Config"),
        ({"events": ("nonsense",)}, InvalidValue, "Events"),
        ({"branch_filter": "[a"}, InvalidValue, "BranchFilter"),
        ({"branch_filter": "x" * 256}, InvalidField, "BranchFilter"),
        ({"authorization": "a\r\nb"}, InvalidValue, "AuthorizationHeader"),
        ({"name": "x" * 256}, InvalidField, "Name"),
    ],
)
def test_an_invalid_option_is_named(
    app: App, ada: Account, changes: dict[str, object], error: type[HostingError], named: str
) -> None:
    """The error names the option that is invalid, and no webhook is created."""
    options = {"type": "gitea", "url": "https://ci.example/h", "content_type": "json", **changes}
    with pytest.raises(error) as excinfo:
        webhooks.create(app, Actor(ada), WebhookOwner(ada), NewWebhook(**options))  # type: ignore[arg-type]  # invalid on purpose
    value = excinfo.value
    assert (value.option if isinstance(value, InvalidWebhookOption) else getattr(value, "field", "")) == named
    assert webhooks.list_webhooks(app, Actor(ada), WebhookOwner(ada), skip=0, limit=1) == ([], 0)


def test_an_edit_changes_what_is_given_and_keeps_the_rest(app: App, own: WebhookOwner, ada: Account) -> None:
    """The secret and the URL stay if the edit does not have them, and an invalid URL is refused."""
    created = webhooks.create(app, Actor(ada), own, replace(WANTED, secret="hunter2"))
    edited = webhooks.edit(app, Actor(ada), own, created.id, WebhookEdit(name=" CI ", is_active=True))
    assert (edited.name, edited.is_active, edited.secret, edited.url) == ("CI", True, created.secret, created.url)
    with pytest.raises(InvalidWebhookOption):
        webhooks.edit(app, Actor(ada), own, created.id, WebhookEdit(url="nowhere"))
    changes = WebhookEdit(
        url="https://ci:pa55@other.example/h", content_type="form", secret="other", is_active=False
    )
    moved = webhooks.edit(app, Actor(ada), own, created.id, changes)
    assert (moved.name, moved.url, moved.content_type, moved.is_active) == (
        "CI",
        "https://other.example/h",
        "form",
        False,
    )
    assert app.cipher.decrypt(moved.secret) == "other"
    assert app.cipher.decrypt(moved.authorization) == "Basic Y2k6cGE1NQ=="
    changes = WebhookEdit(url="https://ci:pa55@third.example/h", authorization="Bearer x")
    header = webhooks.edit(app, Actor(ada), own, created.id, changes).authorization
    assert app.cipher.decrypt(header) == "Bearer x"


def test_the_longest_options_are_accepted(app: App, own: WebhookOwner, ada: Account) -> None:
    """Names and filters have up to 255 characters, URLs, secrets and options 2048, and a header 4096."""
    url = "https://ci.example/".ljust(2048, "x")
    longest = WebhookEdit(
        url=url, secret="s" * 2048, name="n" * 255, branch_filter="b" * 255, authorization="a" * 4096
    )
    created = webhooks.create(app, Actor(ada), own, replace(WANTED, url=url, secret="s" * 2048, name="n" * 255))
    edited = webhooks.edit(app, Actor(ada), own, created.id, longest)
    assert (edited.url, edited.name, edited.branch_filter) == (url, "n" * 255, "b" * 255)
    for changes in (
        WebhookEdit(url=url + "x"),
        WebhookEdit(secret="s" * 2049),
        WebhookEdit(name="n" * 256),
        WebhookEdit(authorization="a" * 4097),
    ):
        with pytest.raises((InvalidField, InvalidValue, InvalidWebhookOption)):
            webhooks.edit(app, Actor(ada), own, created.id, changes)


def test_a_webhook_of_the_service_stays_of_its_kind(app: App) -> None:
    """A system webhook does not become a default one, nor the other way; other webhooks ignore the option."""
    admin = accounts.find_user(app.database, "admin")
    actor, service = Actor(admin), WebhookOwner(None)
    for is_system in (True, False):
        created = webhooks.create(app, actor, service, replace(WANTED, is_system=is_system))
        assert (
            webhooks.edit(app, actor, service, created.id, WebhookEdit(is_system=is_system)).scope == created.scope
        )
        for other in (not is_system, None):
            with pytest.raises(InvalidWebhookOption) as excinfo:
                webhooks.edit(app, actor, service, created.id, WebhookEdit(is_system=other))
            assert excinfo.value.option == "is_system_webhook"
    own = webhooks.create(app, actor, WebhookOwner(admin), WANTED)
    assert webhooks.edit(app, actor, WebhookOwner(admin), own.id, WebhookEdit(is_system=True)).scope == own.scope


def test_an_edit_of_a_slack_webhook_keeps_its_other_options(app: App, own: WebhookOwner, ada: Account) -> None:
    """Options that are not given keep their value, and the channel cannot be removed."""
    slack = replace(WANTED, type="slack", channel=" #ci ", username="bot")
    created = webhooks.create(app, Actor(ada), own, slack)
    edited = webhooks.edit(app, Actor(ada), own, created.id, WebhookEdit(color="red"))
    assert msgspec.json.decode(edited.meta) == {
        "channel": "#ci",
        "username": "bot",
        "icon_url": "",
        "color": "red",
    }
    with pytest.raises(SlackChannelRequired):
        webhooks.edit(app, Actor(ada), own, created.id, WebhookEdit(channel=" "))


def test_a_test_needs_a_repository_with_commits_and_a_ref_of_it(app: App, own: WebhookOwner, ada: Account) -> None:
    """A test delivery is queued for the one webhook only."""
    actor = Actor(ada)
    first = webhooks.create(app, actor, own, replace(WANTED, is_active=True))
    second = webhooks.create(app, actor, own, replace(WANTED, is_active=True))
    with pytest.raises(NoSuchRepository):
        webhooks.send_test(app, actor, own, first.id)
    repositories.create(app, ada, ada, NewRepository(name="raft"))
    with pytest.raises(RepositoryEmpty):
        webhooks.send_test(app, actor, own, first.id, repository="raft")
    repositories.create(app, ada, ada, NewRepository(name="ship"), {"README.md": b"ship"})
    with pytest.raises(NoSuchRef):
        webhooks.send_test(app, actor, own, first.id, repository="ada/ship", ref="nowhere")
    webhooks.send_test(app, actor, own, first.id)
    counts = [
        deliveries.deliveries_of(app.database, hook.id, DeliveryFilter(), skip=0, limit=9)[1]
        for hook in (first, second)
    ]
    assert counts == [1, 0]
    admin = Actor(accounts.find_user(app.database, "admin"))
    of_service = webhooks.create(app, admin, WebhookOwner(None), WANTED)
    with pytest.raises(InvalidValue, match="owner and a name"):
        webhooks.send_test(app, admin, WebhookOwner(None), of_service.id, repository="ship")


def test_the_owner_is_stored_by_its_kind(app: App, ada: Account) -> None:
    """Organizations and users are stored as `owner`; a user may administer their own webhooks."""
    kinds = {name: owner.stored.kind for name, owner in owners(app, ada, Mode.OWNER).items()}
    assert kinds == {"repository": "repository", "organization": "owner", "user": "owner", "service": "service"}
    assert access.require_webhook_admin(Actor(ada), WebhookOwner(ada)) == ada


def test_the_header_of_a_default_webhook_is_not_sent_to_a_host_of_a_user(app: App, ada: Account) -> None:
    """A user whose repository has a copy may not change its URL to another host without a header of their own."""
    admin = Actor(accounts.find_user(app.database, "admin"))
    default = replace(WANTED, authorization="Bearer hunter2")
    webhooks.create(app, admin, WebhookOwner(None), default)
    ship = repositories.create(app, ada, ada, NewRepository(name="ship"))
    owner = WebhookOwner(RepositoryAccess(ship, repositories.permissions_in(app, Actor(ada), ship)))
    ((copy,), _) = webhooks.list_webhooks(app, Actor(ada), owner, skip=0, limit=9)
    for url in ("https://evil.example/h", "http://ci.example/h", "https://ci.example:444/h"):
        with pytest.raises(InvalidWebhookOption) as excinfo:
            webhooks.edit(app, Actor(ada), owner, copy.id, WebhookEdit(url=url))
        assert excinfo.value.option == "url"
    kept = webhooks.edit(app, Actor(ada), owner, copy.id, WebhookEdit(url="https://ci.example/other", name="CI"))
    assert app.cipher.decrypt(kept.authorization) == "Bearer hunter2"
    moved = webhooks.edit(app, admin, owner, copy.id, WebhookEdit(url="https://new.example/h"))
    assert app.cipher.decrypt(moved.authorization) == "Bearer hunter2"
    edit = WebhookEdit(url="https://evil.example/h", authorization="")
    assert webhooks.edit(app, Actor(ada), owner, copy.id, edit).authorization == ""
    edit = WebhookEdit(url="https://ci.example/h", authorization="Bearer own")
    webhooks.edit(app, Actor(ada), owner, copy.id, edit)
    own = webhooks.edit(app, Actor(ada), owner, copy.id, WebhookEdit(url="https://other.example/h"))
    assert app.cipher.decrypt(own.authorization) == "Bearer own"


@pytest.mark.parametrize("change", [None, WebhookEdit(authorization="Bearer new")])
def test_a_copy_keeps_the_header_from_users_when_the_default_webhook_changes(
    app: App, ada: Account, change: WebhookEdit | None
) -> None:
    """Also after the default webhook was deleted, and in a repository generated from one with a copy."""
    admin = Actor(accounts.find_user(app.database, "admin"))
    default = webhooks.create(app, admin, WebhookOwner(None), replace(WANTED, authorization="Bearer hunter2"))
    ship = repositories.create(app, ada, ada, NewRepository(name="ship"))
    if change is None:
        webhooks.delete(app, admin, WebhookOwner(None), default.id)
    else:
        webhooks.edit(app, admin, WebhookOwner(None), default.id, change)
    boat = make_repository(app.database, ada, "boat")
    with app.database.write() as connection:
        hooks.copy_hooks(connection, ship.id, boat.id)
    for repository in (ship, boat):
        owner = WebhookOwner(
            RepositoryAccess(repository, repositories.permissions_in(app, Actor(ada), repository))
        )
        ((copy,), _) = webhooks.list_webhooks(app, Actor(ada), owner, skip=0, limit=9)
        with pytest.raises(InvalidWebhookOption):
            webhooks.edit(app, Actor(ada), owner, copy.id, WebhookEdit(url="https://evil.example/h"))
