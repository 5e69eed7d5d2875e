"""Creates the demo content step by step through the public API.

A step is a function of the `DemoContext`. A new part of the service gets one more step at the end of `STEPS`.
"""

import base64
import secrets
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from holdfast.hosting.git import program
from holdfast.secret import Secret
from holdfast_demo import almanac, demo_issues, harbour, snapshots
from holdfast_demo.calendar import DAY
from holdfast_demo.client import DemoClient, basic_authorization, pointer_to
from holdfast_demo.drawings import view_png
from holdfast_demo.history import DemoHistory
from holdfast_demo.people import EVERYBODY, IFE, JONAH, MAREN, TOMAS, YUKI
from holdfast_demo.service_login import ServiceLogin

__all__ = ["CONVERSATIONS", "ORGANIZATION", "STEPS", "DemoContext", "fill"]

ORGANIZATION: Final = "tidewater"
CONVERSATIONS: Final = "conversations"
BOARD: Final = "http://127.0.0.1:8474/board"


@dataclass(frozen=True, slots=True)
class DemoContext:
    """The context of a step: the client, a temporary folder, and the current time."""

    client: DemoClient
    folder: Path
    now: int


def fill(login: ServiceLogin, *, now: int) -> None:
    """Run all steps as the administrator, with the password of the first start: no access token remains."""
    client = DemoClient(login.host, login.port, Secret(basic_authorization(login.name, login.password)))
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        context = DemoContext(client, Path(folder), now)
        for step in STEPS:
            step(context)


def add_people(context: DemoContext) -> None:
    """Create the users with random passwords; they can log in when an administrator sets others."""
    for person in EVERYBODY:
        account = {
            "username": person.name,
            "full_name": person.full_name,
            "email": person.email,
            "password": secrets.token_urlsafe(32),
            "must_change_password": False,
        }
        context.client.request("POST", "/admin/users", account)


def add_organization(context: DemoContext) -> None:
    """Create the organization with its teams, labels and repositories."""
    request, path = context.client.request, f"/orgs/{ORGANIZATION}"
    about = {
        "username": ORGANIZATION,
        "full_name": "Tidewater Harbour",
        "description": "A small harbour that keeps its own books. Made up, for looking around.",
        "location": "57.7 N, by the ferry office",
    }
    request("POST", f"/admin/users/{MAREN.name}/orgs", about)
    keepers = {
        "name": "Keepers",
        "description": "Who look after the programs and the tables",
        "permission": "write",
        "includes_all_repositories": True,
    }
    watch = {
        "name": "Watch",
        "description": "Who write the logbook and answer visitors",
        "units_map": {"repo.code": "read", "repo.issues": "write"},
        "includes_all_repositories": True,
    }
    for team, members in ((keepers, (MAREN, TOMAS, YUKI, IFE)), (watch, (JONAH,))):
        number = request("POST", f"{path}/teams", team, person=MAREN.name)["id"]
        for person in members:
            request("PUT", f"/teams/{number}/members/{person.name}", person=MAREN.name)
            request("PUT", f"{path}/public_members/{person.name}", person=person.name)
    for label in demo_issues.LABELS:
        described = {"name": label.name, "color": label.color, "description": label.description}
        request("POST", f"{path}/labels", {**described, "exclusive": label.is_exclusive}, person=MAREN.name)
    for name, description, topics in (
        ("harbour", "The board by the ferry office: tides, berths, lanterns", ["tides", "board", "python"]),
        ("almanac", "Sun, moon and customs, worked out for people with a lantern", ["tables", "markdown"]),
    ):
        request("POST", f"{path}/repos", {"name": name, "description": description}, person=MAREN.name)
        request("PUT", f"/repos/{ORGANIZATION}/{name}/topics", {"topics": topics}, person=MAREN.name)


def push_histories(context: DemoContext) -> None:
    """Create both histories with git and push them; `harbour` has a Git LFS file, and `almanac` as a submodule."""
    tables = import_history(context, "almanac", almanac.almanac_history(context.now))
    push(context, "almanac", almanac.PUSHED_BRANCHES, YUKI.name)
    tip = program.run(tables, "rev-parse", "refs/heads/main").decode().strip()
    view = view_png()
    context.client.upload(f"{ORGANIZATION}/harbour", view)
    import_history(context, "harbour", harbour.harbour_history(context.now, tip, pointer_to(view).format()))
    push(context, "harbour", harbour.PUSHED_BRANCHES, MAREN.name)


def import_history(context: DemoContext, name: str, history: DemoHistory) -> Path:
    """Create a local repository with a history."""
    folder = context.folder / f"{name}.git"
    program.run(None, "init", "--quiet", "--bare", "--initial-branch=main", str(folder))
    program.run(folder, "fast-import", "--quiet", "--done", input=history.stream())
    return folder


def push(context: DemoContext, name: str, branches: Sequence[str], person: str) -> None:
    """Push some branches, and all tags."""
    refs = [*(f"refs/heads/{branch}" for branch in branches), "refs/tags/*:refs/tags/*"]
    context.client.push(context.folder / f"{name}.git", f"{ORGANIZATION}/{name}", refs, person=person)


def add_issues(context: DemoContext) -> None:
    """Create the milestones and issues with their comments, and close some."""
    request = context.client.request
    path = f"/repos/{ORGANIZATION}/harbour/milestones"
    milestones: dict[str, int] = {}
    for milestone in demo_issues.MILESTONES:
        due = format_time(context.now + milestone.due_days * DAY)
        wanted = {"title": milestone.title, "description": milestone.description, "due_on": due}
        milestones[milestone.title] = request("POST", path, wanted, person=MAREN.name)["id"]
    for name, issues in (("harbour", demo_issues.HARBOUR), ("almanac", demo_issues.ALMANAC)):
        for issue in issues:
            add_issue(context, f"/repos/{ORGANIZATION}/{name}/issues", issue, milestones)
    for milestone in demo_issues.MILESTONES:
        if milestone.is_closed:
            request("PATCH", f"{path}/{milestones[milestone.title]}", {"state": "closed"}, person=MAREN.name)


def add_issue(context: DemoContext, path: str, issue: demo_issues.DemoIssue, milestones: dict[str, int]) -> None:
    """Create an issue with its comments."""
    request = context.client.request
    wanted: dict[str, object] = {
        "title": issue.title,
        "body": issue.body,
        "labels": list(issue.labels),
        "assignees": [person.name for person in issue.assignees],
        "milestone": milestones.get(issue.milestone, 0),
    }
    if issue.due_days:
        wanted["due_date"] = format_time(context.now + issue.due_days * DAY)
    number = request("POST", path, wanted, person=issue.person.name)["number"]
    for person, words in issue.comments:
        request("POST", f"{path}/{number}/comments", {"body": words}, person=person.name)
    if issue.closed_by is not None:
        request("PATCH", f"{path}/{number}", {"state": "closed"}, person=issue.closed_by.name)


def add_dependencies(context: DemoContext) -> None:
    """Add dependencies between issues, also of different repositories."""
    for (name, number), (other, blocker) in demo_issues.DEPENDENCIES:
        path = f"/repos/{ORGANIZATION}/{name}/issues/{number}/dependencies"
        wanted = {"owner": ORGANIZATION, "name": other, "index": blocker}
        context.client.request("POST", path, wanted, person=MAREN.name)


def add_webhook(context: DemoContext) -> None:
    """Create an inactive webhook: deliveries to this machine are refused, and would be reported as failed."""
    wanted = {
        "type": "gitea",
        "name": "The board by the ferry office",
        "config": {"url": BOARD, "content_type": "json", "secret": secrets.token_urlsafe(16)},
        "events": ["push", "issues"],
        "branch_filter": "{main,release/*}",
        "active": False,
    }
    context.client.request("POST", f"/orgs/{ORGANIZATION}/hooks", wanted, person=MAREN.name)


def add_conversations(context: DemoContext) -> None:
    """Commit two backups of the same phone to a private repository."""
    request, path = context.client.request, f"/repos/{MAREN.name}/{CONVERSATIONS}"
    about = {"name": CONVERSATIONS, "description": "What the phone had to say, kept", "private": True}
    request("POST", f"/admin/users/{MAREN.name}/repos", about)
    earlier, later = snapshots.snapshots()
    files = [
        {"operation": "create", "path": name, "content": base64.b64encode(content.encode()).decode()}
        for name, content in ((".gitattributes", snapshots.ATTRIBUTES), ("README.md", snapshots.README))
    ]
    request("POST", f"{path}/contents", {"files": files, "message": "Say what this is"}, person=MAREN.name)
    kept = f"{path}/contents/{snapshots.FILE}"
    first = {"content": base64.b64encode(earlier).decode(), "message": "The phone at the end of the year"}
    made = request("POST", kept, first, person=MAREN.name)
    second = {"content": base64.b64encode(later).decode(), "message": "The phone, a year later"}
    request("PUT", kept, {**second, "sha": made["content"]["sha"]}, person=MAREN.name)


def format_time(when: int) -> str:
    """Format a timestamp for the API."""
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


STEPS: Final[tuple[Callable[[DemoContext], None], ...]] = (
    add_people,
    add_organization,
    push_histories,
    add_issues,
    add_dependencies,
    add_webhook,
    add_conversations,
)
