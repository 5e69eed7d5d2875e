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
from holdfast_demo.client import DemoClient, basic, pointer_to
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
    """The context of a step: the client, a working folder, and the current time."""

    client: DemoClient
    folder: Path
    now: int


def fill(order: ServiceLogin, *, now: int) -> None:
    """Make everything as the administrator, whose password the first start knows; so no token is left behind."""
    client = DemoClient(order.host, order.port, Secret(basic(order.name, order.password)))
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        stage = DemoContext(client, Path(folder), now)
        for step in STEPS:
            step(stage)


def add_people(stage: DemoContext) -> None:
    """Make the accounts; nobody knows their passwords, so nobody logs in until an administrator sets one."""
    for person in EVERYBODY:
        account = {
            "username": person.name,
            "full_name": person.full_name,
            "email": person.email,
            "password": secrets.token_urlsafe(32),
            "must_change_password": False,
        }
        stage.client.ask("POST", "/admin/users", account)


def add_organization(stage: DemoContext) -> None:
    """Make the organization with its teams, its labels and its repositories."""
    ask, path = stage.client.ask, f"/orgs/{ORGANIZATION}"
    about = {
        "username": ORGANIZATION,
        "full_name": "Tidewater Harbour",
        "description": "A small harbour that keeps its own books. Made up, for looking around.",
        "location": "57.7 N, by the ferry office",
    }
    ask("POST", f"/admin/users/{MAREN.name}/orgs", about)
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
        number = ask("POST", f"{path}/teams", team, person=MAREN.name)["id"]
        for person in members:
            ask("PUT", f"/teams/{number}/members/{person.name}", person=MAREN.name)
            ask("PUT", f"{path}/public_members/{person.name}", person=person.name)
    for label in demo_issues.LABELS:
        described = {"name": label.name, "color": label.color, "description": label.description}
        ask("POST", f"{path}/labels", {**described, "exclusive": label.is_exclusive}, person=MAREN.name)
    for name, description, topics in (
        ("harbour", "The board by the ferry office: tides, berths, lanterns", ["tides", "board", "python"]),
        ("almanac", "Sun, moon and customs, worked out for people with a lantern", ["tables", "markdown"]),
    ):
        ask("POST", f"{path}/repos", {"name": name, "description": description}, person=MAREN.name)
        ask("PUT", f"/repos/{ORGANIZATION}/{name}/topics", {"topics": topics}, person=MAREN.name)


def push_histories(stage: DemoContext) -> None:
    """Make both histories with git and push them; the larger one has a large file and the smaller inside."""
    tables = import_history(stage, "almanac", almanac.almanac_history(stage.now))
    push(stage, "almanac", almanac.KEPT, YUKI.name)
    tip = program.run(tables, "rev-parse", "refs/heads/main").decode().strip()
    view = view_png()
    stage.client.upload(f"{ORGANIZATION}/harbour", view)
    import_history(stage, "harbour", harbour.harbour_history(stage.now, tip, pointer_to(view).format()))
    push(stage, "harbour", harbour.KEPT, MAREN.name)


def import_history(stage: DemoContext, name: str, history: DemoHistory) -> Path:
    """Turn a history into a repository of git's."""
    folder = stage.folder / f"{name}.git"
    program.run(None, "init", "--quiet", "--bare", "--initial-branch=main", str(folder))
    program.run(folder, "fast-import", "--quiet", "--done", input=history.stream())
    return folder


def push(stage: DemoContext, name: str, branches: Sequence[str], person: str) -> None:
    """Push the branches that are kept, and all tags."""
    refs = [*(f"refs/heads/{branch}" for branch in branches), "refs/tags/*:refs/tags/*"]
    stage.client.push(stage.folder / f"{name}.git", f"{ORGANIZATION}/{name}", refs, person=person)


def add_issues(stage: DemoContext) -> None:
    """Open the milestones and issues, let people talk about them, and close some."""
    ask = stage.client.ask
    path = f"/repos/{ORGANIZATION}/harbour/milestones"
    milestones: dict[str, int] = {}
    for milestone in demo_issues.MILESTONES:
        due = moment(stage.now + milestone.due_days * DAY)
        wanted = {"title": milestone.title, "description": milestone.description, "due_on": due}
        milestones[milestone.title] = ask("POST", path, wanted, person=MAREN.name)["id"]
    for name, issues in (("harbour", demo_issues.HARBOUR), ("almanac", demo_issues.ALMANAC)):
        for issue in issues:
            add_issue(stage, f"/repos/{ORGANIZATION}/{name}/issues", issue, milestones)
    for milestone in demo_issues.MILESTONES:
        if milestone.is_closed:
            ask("PATCH", f"{path}/{milestones[milestone.title]}", {"state": "closed"}, person=MAREN.name)


def add_issue(stage: DemoContext, path: str, issue: demo_issues.DemoIssue, milestones: dict[str, int]) -> None:
    """Open one issue, with everything that was said about it."""
    ask = stage.client.ask
    wanted: dict[str, object] = {
        "title": issue.title,
        "body": issue.body,
        "labels": list(issue.labels),
        "assignees": [person.name for person in issue.assignees],
        "milestone": milestones.get(issue.milestone, 0),
    }
    if issue.due_days:
        wanted["due_date"] = moment(stage.now + issue.due_days * DAY)
    number = ask("POST", path, wanted, person=issue.person.name)["number"]
    for person, words in issue.talk:
        ask("POST", f"{path}/{number}/comments", {"body": words}, person=person.name)
    if issue.closed_by is not None:
        ask("PATCH", f"{path}/{number}", {"state": "closed"}, person=issue.closed_by.name)


def add_dependencies(stage: DemoContext) -> None:
    """Let some issues wait for others, also for those of the other repository."""
    for (name, number), (other, blocker) in demo_issues.DEPENDENCIES:
        path = f"/repos/{ORGANIZATION}/{name}/issues/{number}/dependencies"
        wanted = {"owner": ORGANIZATION, "name": other, "index": blocker}
        stage.client.ask("POST", path, wanted, person=MAREN.name)


def add_webhook(stage: DemoContext) -> None:
    """Make a webhook, inactive: deliveries to this machine are refused, and would be reported as failed."""
    wanted = {
        "type": "gitea",
        "name": "The board by the ferry office",
        "config": {"url": BOARD, "content_type": "json", "secret": secrets.token_urlsafe(16)},
        "events": ["push", "issues"],
        "branch_filter": "{main,release/*}",
        "active": False,
    }
    stage.client.ask("POST", f"/orgs/{ORGANIZATION}/hooks", wanted, person=MAREN.name)


def keep_conversations(stage: DemoContext) -> None:
    """Put two snapshots of a phone into a private repository, one on top of the other."""
    ask, path = stage.client.ask, f"/repos/{MAREN.name}/{CONVERSATIONS}"
    about = {"name": CONVERSATIONS, "description": "What the phone had to say, kept", "private": True}
    ask("POST", f"/admin/users/{MAREN.name}/repos", about)
    earlier, later = snapshots.snapshots()
    files = [
        {"operation": "create", "path": name, "content": base64.b64encode(content.encode()).decode()}
        for name, content in ((".gitattributes", snapshots.ATTRIBUTES), ("README.md", snapshots.README))
    ]
    ask("POST", f"{path}/contents", {"files": files, "message": "Say what this is"}, person=MAREN.name)
    kept = f"{path}/contents/{snapshots.FILE}"
    first = {"content": base64.b64encode(earlier).decode(), "message": "The phone at the end of the year"}
    made = ask("POST", kept, first, person=MAREN.name)
    second = {"content": base64.b64encode(later).decode(), "message": "The phone, a year later"}
    ask("PUT", kept, {**second, "sha": made["content"]["sha"]}, person=MAREN.name)


def moment(when: int) -> str:
    """Write a moment the way the API reads it."""
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


STEPS: Final[tuple[Callable[[DemoContext], None], ...]] = (
    add_people,
    add_organization,
    push_histories,
    add_issues,
    add_dependencies,
    add_webhook,
    keep_conversations,
)
