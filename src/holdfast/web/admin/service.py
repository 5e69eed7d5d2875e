"""Site administration: health, pending deliveries, organizations, chat backups and settings."""

import platform
import shutil
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

import msgspec
from jinja2.filters import do_filesizeformat as filesizeformat
from sqlalchemy import func, select, text

from holdfast import __version__
from holdfast.hosting.app import App
from holdfast.hosting.git import program
from holdfast.hosting.guards import site_admin
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import chat_backups, health
from holdfast.hosting.store import accounts, backlog, migrate, outbox
from holdfast.hosting.store.backlog import HookBacklog
from holdfast.hosting.store.tables import deliveries, hooks, issues, repositories, users
from holdfast.settings import describe, show
from holdfast.web.settings.settings_layout import ACCOUNT, ADMIN, in_admin

__all__ = [
    "list_chat_backups_page",
    "list_organizations_page",
    "show_deliveries",
    "show_health",
    "show_settings_page",
]

# A backlog of more pending deliveries is reported as a problem.
MANY_WAITING: Final = 1000
EVERYBODY: Final = ("public", "limited", "private")
CHECKS: Final = (("database", "Database"), ("migrations", "Database schema"), ("data", "Data folder"))


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts on the health page."""

    people: int
    organizations: int
    repositories: int
    issues: int
    hooks: int
    waiting: int
    failed: int
    """Within the retention time of deliveries."""


@dataclass(frozen=True, slots=True)
class Check:
    """A health check, and its problem if it fails."""

    name: str
    problem: str
    detail: str = ""
    link: str = ""
    link_text: str = ""


def resource_checks(counted: Counts, *, free: int, total: int) -> tuple[Check, Check]:
    """Return the checks of disk space and webhook deliveries."""
    waiting, failed = counted.waiting, counted.failed
    problems = [
        *([f"{waiting:,} deliveries pending"] if waiting > MANY_WAITING else []),
        *([f"{failed:,} {'deliveries' if failed > 1 else 'delivery'} failed recently"] if failed else []),
    ]
    free_space = f"{filesizeformat(free)} free of {filesizeformat(total)}"
    return (
        Check("Disk space", "less than 5% free" if free < total // 20 else "", free_space),
        Check(
            "Webhooks",
            ", ".join(problems),
            f"{waiting:,} pending, {failed:,} failed recently",
            f"{ADMIN}/deliveries",
            "Show failed deliveries" if failed else "Show deliveries",
        ),
    )


class AdminSearchQuery(msgspec.Struct, frozen=True):
    """The query of the organization list."""

    q: str = ""


def counts(app: App) -> Counts:
    """Return the counts, in one query."""
    counted = [
        select(func.count()).select_from(users).where(~users.c.is_organization),
        select(func.count()).select_from(users).where(users.c.is_organization),
        select(func.count()).select_from(repositories),
        select(func.count()).select_from(issues),
        select(func.count()).select_from(hooks),
        select(func.count()).select_from(deliveries).where(deliveries.c.state == "waiting"),
        select(func.count()).select_from(deliveries).where(deliveries.c.state == "failed"),
    ]
    with app.database.read() as connection:
        row = connection.execute(select(*(count.scalar_subquery() for count in counted))).one()
    return Counts(*row)


def database_facts(app: App) -> tuple[str, int]:
    """Return the name and version of the database, and its size in bytes."""
    if app.database.is_sqlite:
        statements = (
            text("SELECT 'SQLite ' || sqlite_version()"),
            text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
        )
    else:
        statements = (
            text("SELECT 'PostgreSQL ' || current_setting('server_version')"),
            text("SELECT pg_database_size(current_database())"),
        )
    with app.database.read() as connection:
        name, size = (connection.execute(statement).scalar_one() for statement in statements)
    return str(name), int(size)


@endpoint(f"GET {ADMIN}", scope="admin", guards=(site_admin,), slow=True)
def show_health(request: RequestContext) -> RawResponse:
    """Show the health checks, counts and versions."""
    host = request.app
    problems = health.problems(host)
    database, size = database_facts(host)
    disk = shutil.disk_usage(host.settings.data)
    counted = counts(host)
    return in_admin(
        request,
        "admin/health.html",
        at="Health",
        title="Health",
        checks=[
            *(Check(label, problems.get(name, "")) for name, label in CHECKS),
            *resource_checks(counted, free=disk.free, total=disk.total),
        ],
        counts=counted,
        versions=[
            ("Holdfast", __version__),
            ("Python", platform.python_version()),
            ("Database", database),
            ("Schema revision", migrate.revision(host.database) or "none"),
            ("Git", git_version()),
            ("System", f"{platform.system()} {platform.release()} on {platform.machine()}"),
        ],
        database_size=size,
        data=host.settings.data,
    )


def git_version() -> str:
    """Return the version of the `git` program."""
    return program.run(None, "version").decode("utf-8", "replace").removeprefix("git version").strip()


def home_of(stuck: HookBacklog) -> tuple[str, str]:
    """Return the name of the owner of a webhook, and the path of its pages."""
    if stuck.scope in {"system", "default"}:
        return "the whole service", f"{ADMIN}/hooks/{stuck.id}"
    if stuck.repository:
        name = f"{stuck.owner}/{stuck.repository}"
        return name, f"/{quote(name)}/settings/hooks/{stuck.id}"
    if stuck.of_organization:
        return stuck.owner, f"/-/orgs/{quote(stuck.owner)}/settings/hooks/{stuck.id}"
    return stuck.owner, f"{ACCOUNT}/hooks/{stuck.id}"


@endpoint(f"GET {ADMIN}/deliveries", scope="admin", guards=(site_admin,), slow=True)
def show_deliveries(request: RequestContext, page: PageParams) -> RawResponse:
    """Show the pending deliveries, and the paused, delayed or failing webhooks."""
    database = request.app.database
    queue = outbox.queue_size(database)
    hook_backlogs, total = backlog.hooks_with_backlog(database, skip=page.skip, limit=page.size)
    own = request.user.name
    rows = []
    for stuck in hook_backlogs:
        name, path = home_of(stuck)
        is_ours = stuck.scope != "owner" or stuck.of_organization or stuck.owner == own
        rows.append((stuck, name, path if is_ours else ""))
    return in_admin(
        request,
        "admin/deliveries.html",
        at="Deliveries",
        title="Deliveries",
        queue=queue,
        waited=max(int(time.time() - queue.oldest), 0) if queue.length else 0,
        hooks=rows,
        total=total,
        page=page,
        on=request.app.settings.webhooks,
    )


@endpoint(f"GET {ADMIN}/organizations", scope="admin", guards=(site_admin,), slow=True)
def list_organizations_page(request: RequestContext, query: AdminSearchQuery, page: PageParams) -> RawResponse:
    """List the organizations, optionally those whose name contains a text."""
    organizations, total = accounts.search_accounts(
        request.app.database,
        query.q.strip(),
        organizations=True,
        visibilities=EVERYBODY,
        skip=page.skip,
        limit=page.size,
    )
    more = f"?{urlencode({'q': query.q})}&page=" if query.q else "?page="
    return in_admin(
        request,
        "admin/organizations.html",
        at="Organizations",
        title="Organizations",
        found=organizations,
        total=total,
        page=page,
        q=query.q,
        more=more,
    )


@endpoint(f"GET {ADMIN}/chat-backups", scope="admin", guards=(site_admin,), slow=True)
def list_chat_backups_page(request: RequestContext, page: PageParams) -> RawResponse:
    """List the chat backups that users uploaded, with owner and size, but not their names or content."""
    usage = chat_backups.list_usage(request.app, request.actor, skip=page.skip, limit=page.size)
    return in_admin(
        request,
        "admin/chat_backups.html",
        at="Chat backups",
        title="Chat backups",
        usage=usage,
        limit=request.app.settings.chat_storage_mb * 2**20,
        page=page,
    )


@endpoint(f"GET {ADMIN}/settings", scope="admin", guards=(site_admin,), slow=True)
def show_settings_page(request: RequestContext) -> RawResponse:
    """Show the effective settings; secrets are masked."""
    settings = request.app.settings
    rows = [(setting, show(getattr(settings, setting.name))) for setting in describe()]
    return in_admin(request, "admin/settings.html", at="Settings", title="Settings", rows=rows)
