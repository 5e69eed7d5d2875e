"""Issue boards: moving an issue to another column changes its milestone or replaces a label."""

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.store import issue_labels, issues
from holdfast.hosting.store.issues import Issue, IssueChanges
from holdfast.hosting.store.labels import Label, labels_named
from holdfast.hosting.store.milestones import check_milestone

__all__ = ["move_to_label", "move_to_milestone"]


def move_to_milestone(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, *, source: int, destination: int
) -> None:
    """Move an issue from one milestone to another; 0 is none. Requires write access.

    Raises `Outdated` if the issue is no longer in the first milestone.
    """
    user = access.require_issue_write(actor, target, issue)
    check_milestone(app.database, target.repository, destination)
    changes = IssueChanges(milestone_id=destination, previous_milestone_id=source)
    issues.change_issue(app.database, target.repository, issue, user, changes)


def move_to_label(
    app: App, actor: Actor, target: RepositoryAccess, issue: Issue, *, source: int, destination: int
) -> None:
    """Replace one label of an issue by another; 0 is none. Requires write access.

    Raises `Outdated` if the issue no longer has the first label, and `InvalidReference` if the repository has no
    such label.
    """
    user = access.require_issue_write(actor, target, issue)
    less, more = label_with(app, target, source), label_with(app, target, destination)
    issue_labels.move_label(app.database, target.repository, issue, user, less=less, more=more)


def label_with(app: App, target: RepositoryAccess, label_id: int) -> Label | None:
    """Return the label with an id; None for 0."""
    return labels_named(app.database, target.repository, [label_id])[0] if label_id else None
