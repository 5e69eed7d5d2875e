"""Repositories generated from empty templates, and the refusal of repositories that are no templates."""

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import NotATemplate
from holdfast.hosting.services import repositories, repository_templates
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.services.repository_templates import TemplateParts
from holdfast.hosting.services.template_variables import RepositoryAddresses
from tests.hosting.repository_helpers import make_people


def test_a_template_without_commits_makes_an_empty_repository(app: App) -> None:
    """The files of an empty template may be requested; a repository that is no template is refused."""
    (ada,) = make_people(app.database, "ada")
    for is_template in (True, False):
        source = repositories.create(
            app, ada, ada, NewRepository(name=f"source-{is_template}", is_template=is_template)
        )
        target = RepositoryAccess(source, repositories.permissions_in(app, Actor(ada), source))
        new, parts = NewRepository(name="made"), TemplateParts(git_content=True)

        def addresses(name: str) -> RepositoryAddresses:
            return RepositoryAddresses(name, name, name)

        if is_template:
            repository = repository_templates.generate(
                app, Actor(ada), target, new, owner_name="ada", parts=parts, addresses=addresses
            )
            assert (repository.is_empty, repository.branch_count, repository.size) == (True, 0, 0)
        else:
            with pytest.raises(NotATemplate):
                repository_templates.generate(
                    app, Actor(ada), target, new, owner_name="ada", parts=parts, addresses=addresses
                )
