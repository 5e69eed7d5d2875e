"""Repositories generated from templates that are empty or deleted, and from repositories that are no templates."""

import threading
from typing import Any

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchRepository, NotATemplate
from holdfast.hosting.services import repositories, repository_templates
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.repository_templates import TemplateParts
from holdfast.hosting.services.template_variables import RepositoryAddresses
from holdfast.hosting.store import forks, lfs
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository, find_repository
from tests.hosting.repository_helpers import make_people


def made(app: App, user: Account, source: Repository) -> Repository:
    """Generate a repository with the files of another one."""
    target = RepositoryAccess(source, repositories.permissions_in(app, Actor(user), source))
    return repository_templates.generate(
        app,
        Actor(user),
        target,
        NewRepository(name="made"),
        owner_name=user.name,
        parts=TemplateParts(git_content=True),
        addresses=lambda name: RepositoryAddresses(name, name, name),
    )


def test_a_template_without_commits_makes_an_empty_repository(app: App) -> None:
    """The files of an empty template may be requested; a repository that is no template is refused."""
    (ada,) = make_people(app.database, "ada")
    repository = made(app, ada, repositories.create(app, ada, ada, NewRepository(name="empty", is_template=True)))
    assert (repository.is_empty, repository.branch_count, repository.size) == (True, 0, 0)
    with pytest.raises(NotATemplate):
        made(app, ada, repositories.create(app, ada, ada, NewRepository(name="plain")))


def test_no_repository_is_generated_from_a_template_that_is_deleted_meanwhile(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its LFS objects may be deleted with it, and the new repository would have their pointers only."""
    (ada,) = make_people(app.database, "ada")
    files = {".gitattributes": b"*.bin filter=lfs\n"}
    source = repositories.create(app, ada, ada, NewRepository(name="ship", is_template=True), files)
    create = repositories.create

    def delete_then_create(*arguments: Any, **named: Any) -> Repository:
        repositories.remove(app, source, ada)
        return create(*arguments, **named)

    monkeypatch.setattr(repositories, "create", delete_then_create)
    with pytest.raises(NoSuchRepository):
        made(app, ada, source)
    with pytest.raises(NoSuchRepository):
        find_repository(app.database, "ada", "made")


def test_a_template_is_not_deleted_while_its_lfs_objects_are_linked(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A garbage collection in between would find the objects without a link."""
    (ada,) = make_people(app.database, "ada")
    source = repositories.create(app, ada, ada, NewRepository(name="ship", is_template=True), {"a": b"a"})
    lfs.link(app.database, source, "1" * 64, 1)
    copy = forks.copy_lfs_links
    removal = threading.Thread(target=repositories.remove, args=(app, source, ada))

    def copy_then_delete(*arguments: Any) -> None:
        copy(*arguments)
        removal.start()
        removal.join(1)
        assert removal.is_alive()

    monkeypatch.setattr(forks, "copy_lfs_links", copy_then_delete)
    repository = made(app, ada, source)
    removal.join()
    assert lfs.linked_sizes(app.database, repository, ["1" * 64]) == {"1" * 64: 1}
