"""`holdfast admin repo`: manage repositories."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from holdfast.cli.admin.shared import RepositoryArgument, host, print_table, repository_at
from holdfast.cli.output import JsonOption, console, print_json
from holdfast.cli.settings import ConfigOption, DataOption

__all__ = [
    "RefLogOutput",
    "RepositoryOutput",
    "create",
    "group",
    "list_all",
    "ref_log",
    "remove",
    "rename",
    "restore",
    "transfer",
]

group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Manage repositories.")
EVERY = 2**31


@dataclass(frozen=True, slots=True)
class RepositoryOutput:
    """A repository in the list."""

    id: int
    owner: str
    name: str
    private: bool
    archived: bool
    empty: bool
    default_branch: str
    size: int
    folder: str


@group.command("list")
def list_all(
    context: typer.Context, *, data: DataOption = None, config: ConfigOption = None, json: JsonOption = False
) -> None:
    """List all repositories and their folders in the data folder."""
    from holdfast.hosting.store.repositories import list_repositories

    with host(context, config, data) as opened:
        stored, _ = list_repositories(opened.database, [], skip=0, limit=EVERY)
        repositories = [
            RepositoryOutput(
                item.id,
                item.owner.name,
                item.name,
                item.is_private,
                item.is_archived,
                item.is_empty,
                item.default_branch,
                item.size,
                str(opened.folders.path(item.id).relative_to(opened.folders.root.parent)),
            )
            for item in stored
        ]
    if json:
        print_json(repositories)
        return
    rows = [
        (
            f"{item.owner}/{item.name}",
            "private" if item.private else "public",
            f"{item.size / 2**20:.1f} MB",
            item.folder,
        )
        for item in repositories
    ]
    print_table(("repository", "visible", "size", "folder"), rows)


@group.command("create")
def create(
    context: typer.Context,
    repository: RepositoryArgument,
    *,
    description: Annotated[str, typer.Option("--description", help="A short description.")] = "",
    private: Annotated[bool, typer.Option("--private", help="Make it private.")] = False,
    default_branch: Annotated[str, typer.Option("--default-branch", help="The default branch.")] = "main",
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Create an empty repository."""
    from holdfast.hosting.access import Actor
    from holdfast.hosting.services import repositories
    from holdfast.hosting.store.accounts import find_account

    owner_name, _, name = repository.partition("/")
    options = repositories.NewRepository(
        name=name, description=description, is_private=private, default_branch=default_branch
    )
    with host(context, config, data) as opened:
        owner = find_account(opened.database, owner_name)
        created = repositories.create_for(opened, Actor(owner, is_operator=True), owner, options)
    console().print(f"Repository {created.full_name} created.")


@group.command("rename")
def rename(
    context: typer.Context,
    repository: RepositoryArgument,
    name: Annotated[str, typer.Argument(help="The new name, without the owner.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Rename a repository. The old name redirects until another repository takes it."""
    from holdfast.hosting.services import repositories

    with host(context, config, data) as opened:
        operator, target = repository_at(opened, repository)
        renamed = repositories.edit(opened, operator, target, repositories.RepositoryEdit(name=name))
    console().print(f"Repository {target.repository.full_name} renamed to {renamed.full_name}.")


@group.command("transfer")
def transfer(
    context: typer.Context,
    repository: RepositoryArgument,
    owner: Annotated[str, typer.Argument(help="The new owner, a user or an organization.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Transfer a repository to another owner."""
    from holdfast.hosting.services import repositories

    with host(context, config, data) as opened:
        operator, target = repository_at(opened, repository)
        transferred = repositories.transfer(opened, operator, target, owner)
    console().print(f"Repository {target.repository.full_name} transferred to {transferred.full_name}.")


@group.command("delete")
def remove(
    context: typer.Context, repository: RepositoryArgument, *, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Delete a repository with its issues. This cannot be undone."""
    from holdfast.hosting.services import repositories

    with host(context, config, data) as opened:
        operator, target = repository_at(opened, repository)
        repositories.delete(opened, operator, target)
    console().print(f"Repository {target.repository.full_name} deleted.")


@dataclass(frozen=True, slots=True)
class RefLogOutput:
    """An update of a ref."""

    version: int
    time: str
    actor: str | None
    kind: str
    ref: str
    old: str
    new: str
    restorable: bool


@group.command("ref-log")
def ref_log(
    context: typer.Context,
    repository: RepositoryArgument,
    *,
    ref: Annotated[str, typer.Option("--ref", help="Only this ref, such as refs/heads/main.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="The number of entries to show.")] = 30,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show who moved which branch or tag from where to where, the newest first."""
    from holdfast.hosting.git.encoding import well_formed
    from holdfast.hosting.services import ref_log as log

    with host(context, config, data) as opened:
        _operator, target = repository_at(opened, repository)
        entries, _total = log.list_entries(opened, target, ref=ref, limit=limit)
    ref_log_outputs = [
        RefLogOutput(
            entry.version,
            datetime.fromtimestamp(entry.created_at, UTC).isoformat(),
            None if entry.actor is None else entry.actor.name,
            entry.kind,
            well_formed(entry.update.ref),
            entry.update.old,
            entry.update.new,
            entry.is_restorable,
        )
        for entry in entries
    ]
    if json:
        print_json(ref_log_outputs)
        return
    rows = [
        (
            str(item.version),
            item.time[:16].replace("T", " "),
            item.actor or "-",
            item.kind,
            item.ref.removeprefix("refs/heads/").removeprefix("refs/"),
            item.old[:7],
            item.new[:7],
        )
        for item in ref_log_outputs
    ]
    print_table(("version", "time (UTC)", "user", "kind", "ref", "from", "to"), rows)


@group.command("restore")
def restore(
    context: typer.Context,
    repository: RepositoryArgument,
    version: Annotated[int, typer.Argument(help="The version of an entry of the ref log.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Set a branch or tag to where it pointed before an entry of the ref log."""
    from holdfast.hosting.git.encoding import well_formed
    from holdfast.hosting.services import ref_log as log

    with host(context, config, data) as opened:
        operator, target = repository_at(opened, repository)
        restored = log.restore(opened, operator, target, version)
    console().print(f"{well_formed(restored.ref)} restored to {restored.new}.", soft_wrap=True)
