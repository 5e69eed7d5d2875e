"""`holdfast keep`: verify the backups of a phone's folder and import them into one archive."""

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec
import typer
from platformdirs import user_data_path
from rich.console import Console
from rich.text import Text

from holdfast import backup
from holdfast.backup import Kept, KeptSnapshot, KeyIncomplete, KeyMaterial, WrongKey
from holdfast.backup.completeness import LostAttachment
from holdfast.backup.errors import ArchiveError, KeyRefused, UnreadableBackup, UnwritableBackup
from holdfast.backup.folder_import import find_sources
from holdfast.backup.folder_state import list_files
from holdfast.cli.check import list_lost
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.key_store import delete_key, has_keyring, load_key, store_key
from holdfast.cli.keys import VARIABLE, AccountOption, KeyFileOption, KeyOption, ask, gather_keys
from holdfast.cli.output import JsonOption, console, print_error, print_json, print_note, printable
from holdfast.cli.passphrases import EncryptOption, PassphraseFileOption, passphrase_for
from holdfast.cli.times import Zone, ZoneOption, zone_of
from holdfast.counts import count_of
from holdfast.errors import HoldfastError

__all__ = ["KeepOutput", "KeptSnapshotOutput", "keep_folder"]

LostUse: TypeAlias = tuple[int, str]

# The number of problems printed; the rest is only counted.
SHOWN: Final = 20
# The default polling interval of `--watch`, in seconds.
EVERY_S: Final = 60


class KeptSnapshotOutput(msgspec.Struct, frozen=True):
    """A snapshot in the JSON output of `keep`."""

    name: str
    complete: bool
    made_ms: int
    known: bool
    messages: int
    new: int
    changed: int
    vanished: int
    skipped: int
    attachments: int
    copied: int
    damaged_files: int
    errors: int
    findings: tuple[str, ...]
    lost: tuple[LostAttachment, ...]
    lost_count: int
    lost_before: int
    not_on_device: int
    problem: str


class KeepOutput(msgspec.Struct, frozen=True):
    """The JSON output of `keep`."""

    complete: bool
    unchanged: bool
    summary: str
    folder: Path
    archive: Path
    snapshots: list[KeptSnapshotOutput]
    copies: int
    verified: int
    recopied: int
    damaged_copies: int


def keep_folder(
    folder: Annotated[
        Path,
        typer.Argument(help="The folder a phone writes its backups to, or any other backup.", show_default=False),
    ],
    *,
    archive: Annotated[
        Path | None,
        typer.Option("--archive", help="The archive, an SQLite file. Default: chats.db in your data folder."),
    ] = None,
    encrypt: EncryptOption = False,
    passphrase_file: PassphraseFileOption = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running, and repeat this whenever the folder changes.")
    ] = False,
    every: Annotated[
        int, typer.Option("--every", help="With --watch: the polling interval in seconds.", min=1, max=86_400)
    ] = EVERY_S,
    remember_key: Annotated[
        bool, typer.Option("--remember-key", help="Store the key in the system's keyring.")
    ] = False,
    forget_key: Annotated[
        bool, typer.Option("--forget-key", help="Remove the key from the system's keyring, and do nothing else.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Read all copies in the archive again, not about a twentieth of them in each run."
        ),
    ] = False,
    zone: ZoneOption = None,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> int:
    """Import a phone's backup folder into an archive, verify it and report, once or continuously.

    Every snapshot of the folder is validated and imported into the archive, unless it is there already, and every
    attachment is decrypted, verified and copied beside the archive. Each run also reads some of the earlier copies
    again, and replaces those that are damaged. Nothing is ever removed. It can be interrupted at any moment and
    run again. The exit status is 0 if everything in the folder is in the archive, else 1.
    """
    if watch and json:
        raise typer.BadParameter("it prints one document and ends; leave out --watch", param_hint="--json")
    if forget_key:
        print_note("the key was removed from the keyring" if delete_key(folder) else "the keyring has no such key")
        return ExitCode.FINE
    times = zone_of(zone)
    keys = FolderKeys(folder, gather_keys(os.environ, key=key, key_file=key_file, account_id=account_id))
    target = archive or default_archive()
    passphrase = passphrase_for(target, passphrase_file, encrypt=encrypt)

    def run() -> int:
        kept = keys.use(
            lambda material: keep_once(folder, target, material, passphrase, verify=verify), remember=remember_key
        )
        if json:
            print_json(document(kept, times))
        else:
            show(console(), kept, times)
        return ExitCode.FINE if kept.complete else ExitCode.NO

    # Before the run: what a phone writes during it may be read by the next one only.
    before = signature(folder) if watch else None
    status = run()
    if watch:
        watch_folder(folder, before, run, every, times)
    return status


def default_archive() -> Path:
    """Return the default path of the archive."""
    return user_data_path("holdfast-chats", appauthor=False) / "chats.db"


def keep_once(
    folder: Path, target: Path, keys: KeyMaterial | None, passphrase: str | None, *, verify: bool
) -> Kept:
    """Run `keep` once, with its progress on a terminal."""
    with keep_progress() as progress:
        return backup.keep(folder, target, keys, passphrase=passphrase, verify=verify, progress=progress)


class FolderKeys:
    """The key of a folder: from the options, from the keyring, or prompted for once."""

    def __init__(self, folder: Path, key_material: KeyMaterial | None) -> None:
        self.folder = folder
        self.keys = key_material
        self.stored = key_material is None

    def use(self, work: Callable[[KeyMaterial | None], Kept], *, remember: bool) -> Kept:
        """Call a function that may need the key; without a given key, use the stored one."""
        try:
            result = work(self.keys)
        except KeyIncomplete as error:
            result = self.use_stored(work, error)
        if remember and self.keys is not None:
            store_key(self.folder, self.keys)
        return result

    def use_stored(self, work: Callable[[KeyMaterial | None], Kept], missing: KeyIncomplete) -> Kept:
        """Call the function with the key of the keyring, or with one from a prompt."""
        stored = load_key(self.folder)
        if stored is not None:
            keys = joined(stored, self.keys)
            try:
                result = work(keys)
            except WrongKey:
                raise WrongKey(
                    "the key in the system's keyring does not fit this folder; --forget-key removes it"
                ) from None
            self.keys = keys
            return result
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            hint = f"{missing}; give it with --key-file or {VARIABLE}, or store it once with --remember-key"
            raise KeyIncomplete(hint, missing=missing.missing) from None
        keys = ask(self.keys, missing.missing)
        result = work(keys)
        self.keys = keys
        if has_keyring() and typer.confirm(
            "Store the key in the system's keyring, so that it is not asked for again?", err=True
        ):
            store_key(self.folder, keys)
        return result


def joined(stored: KeyMaterial, keys: KeyMaterial | None) -> KeyMaterial:
    """Return stored keys, combined with those of the options."""
    if keys is None:
        return stored
    values = {field.name: getattr(stored, field.name) for field in fields(stored)}
    return KeyMaterial(**{**values, **{name: getattr(keys, name) for name in keys.given()}})


def watch_folder(folder: Path, kept: object, run: Callable[[], int], every: int, times: Zone) -> None:
    """Poll the folder, and run again when it has changed since `kept` and then been stable for one interval.

    A phone or a sync program writes for some time; files that are still incomplete are read by a later run. While
    the archive cannot be written, the run is repeated in every interval, and the reason is printed once.
    """
    previous, reported = kept, ""
    while True:
        time.sleep(every)
        now = signature(folder)
        if now is None or now != previous or now == kept:
            previous = now
            continue
        if not reported:
            print_note(f"{times.time(time.time_ns() // 1_000_000)}: the folder has changed")
        try:
            run()
        except (KeyIncomplete, KeyRefused):
            raise
        except (ArchiveError, UnwritableBackup) as error:
            # Another process is writing, or the disk is full: that ends without a change of the folder.
            if str(error) != reported:
                print_error(str(error))
            reported = str(error)
            continue
        except HoldfastError as error:
            print_error(str(error))
        kept, reported = now, ""


def signature(folder: Path) -> object:
    """Return the paths, sizes and modification times of a folder's files; None if it does not exist.

    If it cannot be read, the reason is returned, so that the next run reports it.
    """
    try:
        sources = find_sources(folder)
        paths = [path for source in sources for path in source.files]
        for store in {source.store for source in sources if source.store is not None}:
            paths += list_files(store)
        if not paths:
            paths = list_files(folder) if folder.is_dir() else [folder]
        return tuple((str(path), stat.st_size, stat.st_mtime_ns) for path in paths if (stat := stat_of(path)))
    except OSError:
        return None
    except UnreadableBackup as error:
        return str(error) if folder.exists() else None


def stat_of(path: Path) -> os.stat_result | None:
    """Return the `stat` result of a file; None if it does not exist."""
    try:
        return path.stat()
    except OSError:
        return None


def document(kept: Kept, times: Zone) -> KeepOutput:
    """Return the JSON output."""
    snapshots = [
        KeptSnapshotOutput(**{name: getattr(snapshot, name) for name in KeptSnapshotOutput.__struct_fields__})
        for snapshot in kept.snapshots
    ]
    return KeepOutput(
        kept.complete,
        kept.unchanged,
        summary(kept, times),
        kept.folder,
        kept.archive,
        snapshots,
        kept.copies,
        kept.verified,
        kept.recopied,
        kept.damaged_copies,
    )


def show(out: Console, kept: Kept, times: Zone) -> None:
    """Print what is new, vanished or damaged, and the summary line."""
    listed: Counter[LostUse] = Counter()
    for snapshot in kept.snapshots:
        show_snapshot(out, snapshot, kept, times, listed)
    out.print(Text(f"Archive: {printable(str(kept.archive))}"))
    if not kept.unchanged:
        out.print(Text(f"  `holdfast archive serve {printable(shell_word(kept.archive))}` shows it in a browser."))
    show_copies(out, kept)
    out.print(Text(summary(kept, times), style="bold green" if kept.complete else "bold red"))


def show_snapshot(
    out: Console, snapshot: KeptSnapshot, kept: Kept, times: Zone, listed: "Counter[LostUse]"
) -> None:
    """Print the result of a snapshot; lost attachments that are not `listed` are printed, and added to them."""
    if snapshot.problem:
        out.print(Text.assemble(("Not imported: ", "bold red"), printable(f"{snapshot.name}: {snapshot.problem}")))
        command = f"holdfast backup repair --drop {quoted(kept.folder, snapshot)} NEW"
        out.print(Text(f"  `{command}` may save what is left."))
        return
    when = times.time(snapshot.made_ms)
    facts = f"{count_of(snapshot.messages, 'message')} and {count_of(snapshot.attachments, 'attachment')}"
    if snapshot.known and not snapshot.copied:
        out.print(f"Backup of {when}: {facts}, all known.")
    else:
        news = [
            count_of(snapshot.new, "new message"),
            *([f"{snapshot.changed:,} changed"] if snapshot.changed else []),
            *([count_of(snapshot.copied, "new file")] if snapshot.copied else []),
        ]
        out.print(f"Backup of {when}: {facts}; {', '.join(news)}.")
    if snapshot.vanished:
        out.print(
            f"  {count_of(snapshot.vanished, 'message')} of earlier backups {are(snapshot.vanished)} no longer in "
            "it. The archive keeps them: "
            f"`holdfast archive vanished {printable(shell_word(kept.archive))}` lists them.",
        )
    if snapshot.damaged_files:
        out.print(
            f"  {count_of(snapshot.damaged_files, 'attachment file')} of the folder {are(snapshot.damaged_files)} "
            "missing or damaged by now, but the archive has a good copy."
        )
    if snapshot.errors:
        out.print(Text(f"  {count_of(snapshot.errors, 'record')} cannot be read as the format says:", "bold red"))
        for finding in snapshot.findings[:SHOWN]:
            out.print(Text(f"    {printable(finding)}"))
        if snapshot.errors > SHOWN:
            out.print("    `holdfast backup validate` lists them all.")
    if snapshot.lost_count:
        show_lost(out, snapshot, times, listed)
    # What a phone lacked once, a later backup may have.
    if snapshot.not_on_device and snapshot == kept.latest:
        out.print(
            f"  {count_of(snapshot.not_on_device, 'attachment')} {were(snapshot.not_on_device)} not on the phone "
            "itself when it made the backup."
        )


def show_copies(out: Console, kept: Kept) -> None:
    """Print how many copies of attachments were verified again, and those that are damaged."""
    if kept.verified:
        more = "" if kept.verified == kept.copies else "; `--verify` verifies all"
        out.print(f"  {kept.verified:,} of {count_of(kept.copies, 'copied file')} verified again{more}.")
    if kept.recopied:
        count = count_of(kept.recopied, "copied file")
        out.print(f"  {count} {were(kept.recopied)} damaged or missing, and copied again.")
    if kept.damaged_copies:
        out.print(
            Text(
                f"  {count_of(kept.damaged_copies, 'copied file')} {are(kept.damaged_copies)} damaged or missing, "
                "and no backup of the folder has a good one.",
                "bold red",
            )
        )


def show_lost(out: Console, snapshot: KeptSnapshot, times: Zone, listed: "Counter[LostUse]") -> None:
    """Print the lost attachments of a snapshot; those of earlier ones are only counted."""
    lost = f"  {count_of(snapshot.lost_count, 'attachment')} {are(snapshot.lost_count)} lost"
    more = snapshot.lost_count - snapshot.lost_before
    if not more:
        out.print(Text(f"{lost}, as in an earlier backup.", "bold red"))
        return
    before = f", {snapshot.lost_before:,} of them as in an earlier backup; the others:"
    out.print(Text(f"{lost}{before if snapshot.lost_before else ':'}", "bold red"))
    uses = Counter(map(use_of, snapshot.lost))
    others: list[LostAttachment] = []
    again = listed & uses
    for item in snapshot.lost:
        if again[use_of(item)]:
            again[use_of(item)] -= 1
        else:
            others.append(item)
    listed |= uses
    list_lost(out, tuple(others[:SHOWN]), times)
    if more > SHOWN:
        out.print(f"    and {more - SHOWN:,} more; `holdfast backup check` lists them.")


def use_of(item: LostAttachment) -> LostUse:
    """Return what is the same about a lost attachment in every snapshot that has it."""
    return item.sent_ms, item.media_name or f"{item.person} {item.file_name}"


def quoted(folder: Path, snapshot: KeptSnapshot) -> str:
    """Return the path of a snapshot as a word of a command line."""
    path = next(
        (
            snapshot_source.path
            for snapshot_source in find_sources(folder)
            if snapshot_source.name == snapshot.name
        ),
        folder / snapshot.name,
    )
    return printable(shell_word(path))


def shell_word(path: Path) -> str:
    """Return a path as a word of a command line, quoted if it has to be."""
    return f'"{path}"' if sys.platform == "win32" else shlex.quote(str(path))


def summary(kept: Kept, times: Zone) -> str:
    """Return the summary line: whether everything is in the archive."""
    latest = kept.latest
    if kept.complete and latest is not None:
        return f"Everything on the phone on {times.day(latest.made_ms)} is here."
    unread = sum(bool(snapshot.problem) for snapshot in kept.snapshots)
    lost = kept.lost_count
    errors = sum(snapshot.errors for snapshot in kept.snapshots if not snapshot.problem)
    reasons = [
        *([f"{count_of(unread, 'backup')} could not be read"] if unread else []),
        *([f"{count_of(lost, 'attachment')} {are(lost)} lost"] if lost else []),
        *([f"{count_of(errors, 'record')} could not be read"] if errors else []),
    ]
    return f"Not everything is here: {', '.join(reasons) or 'there is no backup in the folder'}."


def are(number: int) -> str:
    """Return "is" or "are" for a count."""
    return "is" if number == 1 else "are"


def were(number: int) -> str:
    """Return "was" or "were" for a count."""
    return "was" if number == 1 else "were"


@contextmanager
def keep_progress() -> Iterator[Callable[[str, int], None] | None]:
    """Show on a terminal the file that is being read, and the progress."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda description, completed: progress.update(
            task, description=printable(description), completed=completed
        )
