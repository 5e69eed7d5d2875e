"""`holdfast admin migrate`, `instance`, `ssh-host-keys`, `doctor` and `gc`."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.text import Text

from holdfast.cli.admin.shared import host, print_table
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.output import JsonOption, console, count_progress, print_json, printable
from holdfast.cli.settings import ConfigOption, DataOption, gather
from holdfast.counts import count_of

__all__ = ["FindingOutput", "doctor", "gc", "instance", "migrate", "ssh_host_keys"]

MATCHING = "Database and data folder belong together."


@dataclass(frozen=True, slots=True)
class FindingOutput:
    """The output of one problem."""

    id: str
    where: str
    what: str
    advice: str
    fixed: bool


def migrate(context: typer.Context, *, data: DataOption = None, config: ConfigOption = None) -> None:
    """Migrate the database to the schema of this version. `holdfast serve` does this at start."""
    from holdfast.hosting.data_folder import open_database, require_data
    from holdfast.hosting.store import migrate as migrations

    settings = gather(context, config, data).settings
    require_data(settings)
    with open_database(settings) as database:
        changed = migrations.upgrade(database)
        state = "migrated to" if changed else "already at"
        console().print(f"{database.name}: {state} revision {migrations.latest()}")


def instance(
    context: typer.Context,
    *,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Accept this data folder, its key and this database as one instance."),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> int:
    """Show the instance ids of the database and of the data folder, and whether they match."""
    from holdfast.hosting.storage import instance as identities

    with host(context, config, data, checked=False) as opened:
        database, settings = opened.database, opened.settings
        if adopt:
            identities.adopt(database, settings)
        in_database, in_folder = identities.read_row(database), identities.read_file(settings.data)
        problem = identities.mismatch(database, settings)
        name = database.name
    if json:
        print_json({"database": in_database, "folder": in_folder, "problem": problem})
    else:
        for place, identity in ((name, in_database), (str(settings.data), in_folder)):
            description = (
                "none"
                if identity is None
                else f"{identity.instance_id}, key {identity.key_fingerprint or 'not known'}"
            )
            console().print(f"{place}: {description}", soft_wrap=True, highlight=False)
        console().print(problem or MATCHING, soft_wrap=True, highlight=False)
    return ExitCode.NO if problem else ExitCode.FINE


def ssh_host_keys(
    context: typer.Context, *, data: DataOption = None, config: ConfigOption = None, json: JsonOption = False
) -> None:
    """Show the fingerprints of the SSH server's host keys; they are generated if there are none."""
    from holdfast.hosting.services.ssh_host_keys import list_keys

    with host(context, config, data) as opened:
        keys = list_keys(opened)
    if json:
        print_json(keys)
    else:
        print_table(("algorithm", "fingerprint"), [(key.algorithm, key.fingerprint) for key in keys])


def doctor(
    context: typer.Context,
    *,
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair what can be repaired safely; nothing is deleted.")
    ] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Read every object of every repository too.")] = False,
    before_upgrade: Annotated[
        bool,
        typer.Option(
            "--before-upgrade",
            help="Check only whether this version can take over the data of an earlier one; nothing is changed.",
        ),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> int:
    """Compare the database with the data on disk and list problems; the exit status is 1 if there are any."""
    from holdfast.hosting.doctor.checks import examine, repair
    from holdfast.hosting.doctor.upgrade import examine_upgrade

    if before_upgrade and (fix or deep):
        raise typer.BadParameter("it changes nothing and reads no repository", param_hint="--before-upgrade")
    findings = []
    with (
        host(context, config, data, migrated=False, checked=False) as opened,
        count_progress("repositories") as count,
    ):
        examined = examine_upgrade(opened) if before_upgrade else examine(opened, deep=deep, passed=count)
        for finding in examined:
            kind = finding.kind
            findings.append(
                FindingOutput(kind.value, finding.where, finding.what, kind.advice, fix and repair(finding))
            )
    if json:
        print_json(findings)
    else:
        for item in findings:
            print_finding(item)
        console().print(summary_line(findings))
    return ExitCode.FINE if all(item.fixed for item in findings) else ExitCode.NO


def summary_line(findings: list[FindingOutput]) -> str:
    """Return the summary line."""
    left = sum(not item.fixed for item in findings)
    if not findings:
        return "No problems found."
    problems = count_of(left, "problem")
    return f"{problems} left, {len(findings) - left} repaired." if left < len(findings) else f"{problems} found."


def print_finding(item: FindingOutput) -> None:
    """Print one finding in two lines."""
    line = Text.assemble((item.id, "bold"), "  ", printable(item.where), ": ", printable(item.what))
    console().print(line)
    console().print(Text("  repaired" if item.fixed else f"  {item.advice}"))


def gc(
    context: typer.Context,
    *,
    needed: Annotated[bool, typer.Option("--needed", help="Pack only the repositories that need it.")] = False,
    data: DataOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> int:
    """Pack all repositories and remove expired data. A running service does this regularly."""
    from holdfast.hosting.services import maintenance
    from holdfast.hosting.store import repository_log

    with host(context, config, data) as opened, count_progress("repositories") as count:
        if needed:
            collected = maintenance.compact_all(opened)
        else:
            numbers = repository_log.repositories_with_packs(opened.database, at_least=1)
            collected = maintenance.collect_garbage(opened, numbers, progress=count)
            maintenance.delete_packs(opened)
        cleaned = maintenance.clean(opened)
    if json:
        removed = {f"removed_{name}": number for name, number in asdict(cleaned).items()}
        print_json({"packed": collected.compacted, "busy": collected.busy, "failed": collected.failed, **removed})
    else:
        busy = f", {len(collected.busy)} busy" if collected.busy else ""
        packed = count_of(len(collected.compacted), "repository", "repositories")
        console().print(f"{packed} packed{busy}.")
        console().print(
            f"{count_of(cleaned.sessions, 'session')}, {count_of(cleaned.login_failures, 'failed login')}, "
            f"{count_of(cleaned.lfs_objects, 'LFS object')} and "
            f"{count_of(cleaned.uploads, 'incomplete upload')} removed."
        )
        for number in collected.failed:
            console().print(f"repository {number} cannot be packed; `holdfast admin doctor --deep` says more")
    return ExitCode.NO if collected.failed else ExitCode.FINE
