"""Repositories of an installation that are made by git itself, for benchmarks."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import update

from holdfast.hosting.app import App
from holdfast.hosting.git.folders import make_private_folder
from holdfast.hosting.services import repositories
from holdfast.hosting.storage.adoption import adopt_repository
from holdfast.hosting.storage.local_copies import create_repository
from holdfast.hosting.store import accounts
from holdfast.hosting.store.repository_log import NOT_ADOPTED
from holdfast.hosting.store.tables import repositories as table

__all__ = ["import_repository"]


def import_repository(app: App, name: str, fill: Callable[[Path], object]) -> Path:
    """Create a repository of the administrator, let `fill` fill a folder for it, and return its local copy."""
    admin = accounts.find_user(app.database, "admin")
    made = repositories.create(app, admin, admin, repositories.NewRepository(name=name))
    folder = app.folders.path(made.id)
    make_private_folder(folder.parent)
    create_repository(folder, made.default_branch)
    fill(folder)
    with app.database.write() as connection:
        connection.execute(update(table).where(table.c.id == made.id).values(version=NOT_ADOPTED))
    adopt_repository(app.database, app.store, app.copies, made.id)
    return folder
