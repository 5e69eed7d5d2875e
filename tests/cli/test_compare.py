"""`holdfast backup diff`, `merge` and `crop`."""

import json
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.cli.exit_codes import ExitCode
from tests.backup.compare.snapshots import difference, snapshot
from tests.backup.compare.valid import check
from tests.backup.streams import KEY_FILE, KEYS, container_of, file_forms, folder_of, sample
from tests.cli.backup_helpers import OTHER_KEY_FILE, check_failure
from tests.cli.conftest import Run


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    """Write two backups of one account and one of another, and the keys."""
    old, new = snapshot(60), snapshot(60).renumbered(3).later(1)
    new.texts()[0].standardMessage.text.body = "something else\x1b[31m"
    del new.texts()[0].standardMessage.text.bodyRanges[:]
    new.groups()[0].group.snapshot.title.title = "Harbour"
    (tmp_path / "a.binproto").write_bytes(old.raw())
    (tmp_path / "b.binproto").write_bytes(new.raw())
    (tmp_path / "other.binproto").write_bytes(snapshot(60, seed=2).raw())
    (tmp_path / "keys.txt").write_text(KEY_FILE)
    (tmp_path / "wrong.txt").write_text(OTHER_KEY_FILE)
    return tmp_path


def test_diff_shows_what_changed_and_exits_with_1(run: Run, backups: Path) -> None:
    """The number of changes is shown by chat, and a changed name with its new value."""
    result = run("backup", "diff", str(backups / "a.binproto"), str(backups / "b.binproto"))
    assert (result.status, result.err) == (ExitCode.NO, "")
    assert "→ Harbour" in result.out
    assert "1 edited" in result.out
    assert "60 → 60 messages: 0 added, 0 removed, 1 changed" in result.out


def test_diff_of_the_same_says_so_and_exits_with_0(run: Run, backups: Path) -> None:
    """Backups with the same content are equal in whatever form they are stored."""
    backups.joinpath("a.jsonl").write_bytes(dict(file_forms(sample(60)))["lines"])
    result = run("backup", "diff", str(backups / "a.binproto"), str(backups / "a.jsonl"))
    assert (result.status, result.out) == (0, "no difference: 60 messages in both\n")


def test_diff_in_detail_lists_each_change_safely(run: Run, backups: Path) -> None:
    """The text is shown before and after the change, without terminal control characters."""
    result = run("backup", "diff", str(backups / "a.binproto"), str(backups / "b.binproto"), "--detail")
    old = snapshot(60).texts()[0].standardMessage.text.body
    assert f"edited: {old} → something else[31m" in result.out
    assert "\x1b[31m" not in result.out


def test_diff_as_json_is_one_document(run: Run, backups: Path) -> None:
    """With `--detail` the JSON document also has the list of all changes."""
    arguments = ("backup", "diff", str(backups / "a.binproto"), str(backups / "b.binproto"), "--json")
    plain, detailed = json.loads(run(*arguments).out), json.loads(run(*arguments, "--detail").out)
    assert plain["same"] is False
    (chat,) = plain["chats"]
    assert (chat["changed"], chat["aspects"]) == (1, {"edited": 1})
    (change,) = detailed.pop("changes")
    assert (change["what"], change["chat"]) == (["edited"], chat["chat"])
    assert detailed == plain
    same = run("backup", "diff", str(backups / "a.binproto"), str(backups / "a.binproto"), "--json", "--detail")
    assert json.loads(same.out)["changes"] == []
    assert same.status == 0


def test_diff_looks_at_one_chat(run: Run, backups: Path) -> None:
    """The chat is given by its name; an unknown name is wrong usage."""
    arguments = ("backup", "diff", str(backups / "a.binproto"), str(backups / "b.binproto"))
    assert run(*arguments, "--chat", "note to self").status == 0
    assert run(*arguments, "--chat", "harbour").status == 1
    check_failure(run(*arguments, "--chat", "no such chat"), ExitCode.USAGE, "no such chat")


def test_each_backup_takes_the_key_that_fits(run: Run, backups: Path) -> None:
    """Several key files can be given; without one that fits, the exit status is that of a wrong key."""
    (backups / "x.backup").write_bytes(container_of(sample(60)))
    arguments = ("backup", "diff", str(backups / "x.backup"), str(backups / "a.binproto"))
    wrong, right = ("--key-file", str(backups / "wrong.txt")), ("--key-file", str(backups / "keys.txt"))
    assert run(*arguments, *wrong, *right).status == 0
    check_failure(run(*arguments, *wrong), ExitCode.WRONG_KEY)
    check_failure(run(*arguments), ExitCode.USAGE, "--key-file")


def test_standard_input_is_one_of_them(spawn: Run, backups: Path) -> None:
    """Standard input can be one of the two backups, but not both."""
    data = (backups / "a.binproto").read_bytes()
    assert spawn("backup", "diff", "-", str(backups / "a.binproto"), data=data).status == 0
    assert spawn("backup", "diff", "-", "-", data=data).status == ExitCode.USAGE


def test_merge_writes_one_and_lists_conflicts(run: Run, backups: Path) -> None:
    """Conflicts are shown on standard error, and --conflicts writes all of them to a file."""
    target, listed = backups / "c.jsonl", backups / "conflicts.jsonl"
    result = run(
        *("backup", "merge", str(backups / "a.binproto"), str(backups / "b.binproto"), "-o", str(target)),
        *("--conflicts", str(listed)),
    )
    assert result.status == 0, result.err
    assert "60 messages" in result.out
    assert "kept 'Harbour'" in result.err
    lines = [json.loads(line) for line in listed.read_text().splitlines()]
    assert {line["what"] for line in lines} == {"group", "message"}
    with backup.open(target) as merged:
        assert merged.form == backup.Form.LINES
    assert difference((backups / "b.binproto").read_bytes(), target.read_bytes()).same


def test_merge_refuses_what_it_cannot_do(run: Run, backups: Path) -> None:
    """Two accounts, a single backup, a target of unknown form and a damaged backup leave no file behind."""
    a, target = str(backups / "a.binproto"), backups / "c.binproto"
    other = str(backups / "other.binproto")
    check_failure(run("backup", "merge", a, other, "-o", str(target)), ExitCode.NO, "two accounts")
    assert run("backup", "merge", a, "-o", str(target)).status == ExitCode.USAGE
    assert run("backup", "merge", a, a, "-o", str(backups / "c")).status == ExitCode.USAGE
    cut = backups / "cut.binproto"
    cut.write_bytes((backups / "a.binproto").read_bytes()[:-5])
    check_failure(
        run("backup", "merge", a, str(cut), "-o", str(target)), ExitCode.UNREADABLE, "middle of a record"
    )
    assert not target.exists()
    assert run("backup", "merge", a, other, "-o", str(target), "--same-account").status == 0
    check(target.read_bytes())


def test_merge_of_a_folder_and_a_file_writes_a_folder(run: Run, backups: Path) -> None:
    """The folder is encrypted with the keys of the source, and has its attachments."""
    folder = folder_of(sample(60), backups / "phone")
    sources = (str(folder), str(backups / "b.binproto"))
    arguments = ("backup", "merge", *sources, "--key-file", str(backups / "keys.txt"))
    result = run(*arguments, "-o", str(backups / "out"), "--to", "folder", "--json")
    assert result.status == 0, result.err
    assert json.loads(result.out)["written"]["attachments"] > 0
    assert backup.info(backups / "out", KEYS).counts["chatItem"] == 60


def test_crop_writes_part_of_a_backup(run: Run, backups: Path) -> None:
    """The part selected by chat or by time is a valid backup with the messages of that chat or time only."""
    target = backups / "c.binproto"
    source = str(backups / "b.binproto")
    largest, *_others = backup.info(source).largest_chats
    result = run("backup", "crop", source, str(target), "--chat", largest.name, "--without-media")
    assert result.status == 0, result.err
    assert "1 of " in result.out
    check(target.read_bytes())
    assert list(backup.info(target).largest_chats) == [largest]
    result = run(
        "backup",
        "crop",
        str(backups / "b.binproto"),
        str(target),
        "--since",
        "2023",
        "--until",
        "2023",
        "--json",
        "--force",
    )
    summary = json.loads(result.out)
    assert 0 < summary["messages"] < 60
    check(target.read_bytes())
    assert {month[:4] for month in backup.info(target).months} == {"2023"}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--since", "soon"),
        ("--since", "2024", "--until", "2023"),
        ("--chat", "no such chat"),
        ("--without-chat", "no such chat"),
    ],
)
def test_crop_needs_to_be_told_what_it_can_understand(run: Run, backups: Path, arguments: tuple[str, ...]) -> None:
    """An invalid selection is reported in one line, and nothing is written."""
    result = run("backup", "crop", str(backups / "a.binproto"), str(backups / "c.binproto"), *arguments)
    check_failure(result, ExitCode.USAGE)
    assert not (backups / "c.binproto").exists()


def test_crop_goes_from_pipe_to_pipe(spawn: Run, backups: Path) -> None:
    """With `--to`, `crop` writes that format to standard output."""
    data = (backups / "a.binproto").read_bytes()
    result = spawn("backup", "crop", "-", "-", "--to", "jsonl", "--since", "2000", data=data)
    assert result.status == 0, result.err
    assert difference(result.out.encode(), data).same


def test_a_backup_is_not_written_over(run: Run, backups: Path) -> None:
    """A source is never overwritten, even with --force; another file is."""
    a, c = backups / "a.binproto", backups / "c.binproto"
    before = a.read_bytes()
    result = run("backup", "merge", str(a), str(backups / "b.binproto"), "-o", str(a), "--force")
    assert result.status == ExitCode.NO
    assert run("backup", "crop", str(a), str(a), "--chat", "Note to Self", "--force").status == ExitCode.NO
    assert a.read_bytes() == before
    c.write_bytes(b"older")
    assert run("backup", "merge", str(a), str(backups / "b.binproto"), "-o", str(c), "--force").status == 0
    assert difference(c.read_bytes(), (backups / "b.binproto").read_bytes()).same
