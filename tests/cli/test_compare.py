"""`holdfast backup diff`, `merge` and `crop`."""

import json
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.cli.exit_codes import ExitCode
from tests.backup.compare.snapshots import difference, snapshot
from tests.backup.compare.valid import check
from tests.backup.container.vectors import SET_A
from tests.backup.streams import KEY_FILE, KEYS, container_of, file_forms, folder_of, sample
from tests.cli.conftest import Ran, Run

OTHER_KEY = f"{SET_A.pool}\naccount-id = {SET_A.aci}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Write two backups of one account and one of another, and the keys."""
    old, new = snapshot(60), snapshot(60).renumbered(3).later(1)
    new.texts()[0].standardMessage.text.body = "something else\x1b[31m"
    del new.texts()[0].standardMessage.text.bodyRanges[:]
    new.groups()[0].group.snapshot.title.title = "Harbour"
    (tmp_path / "a.binproto").write_bytes(old.raw())
    (tmp_path / "b.binproto").write_bytes(new.raw())
    (tmp_path / "other.binproto").write_bytes(snapshot(60, seed=2).raw())
    (tmp_path / "keys.txt").write_text(KEY_FILE)
    (tmp_path / "wrong.txt").write_text(OTHER_KEY)
    return tmp_path


def check_failure(ran: Ran, status: ExitCode, *words: str) -> None:
    """Hold a failure to one line on standard error and nothing else."""
    assert ran.status == status, ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert ran.out == ""
    for word in words:
        assert word in ran.err


def test_diff_shows_what_changed_and_exits_with_1(run: Run, home: Path) -> None:
    """By chat, with counts; names are named."""
    ran = run("backup", "diff", str(home / "a.binproto"), str(home / "b.binproto"))
    assert (ran.status, ran.err) == (ExitCode.NO, "")
    assert "→ Harbour" in ran.out
    assert "1 edited" in ran.out
    assert "60 → 60 messages: 0 added, 0 removed, 1 changed" in ran.out


def test_diff_of_the_same_says_so_and_exits_with_0(run: Run, home: Path) -> None:
    """In whatever form the other one comes."""
    home.joinpath("a.jsonl").write_bytes(dict(file_forms(sample(60)))["lines"])
    ran = run("backup", "diff", str(home / "a.binproto"), str(home / "a.jsonl"))
    assert (ran.status, ran.out) == (0, "no difference: 60 messages in both\n")


def test_diff_in_detail_lists_each_change_safely(run: Run, home: Path) -> None:
    """With what was said before and after, and nothing that steers a terminal."""
    ran = run("backup", "diff", str(home / "a.binproto"), str(home / "b.binproto"), "--detail")
    assert "→ something else[31m" in ran.out
    assert "\x1b[31m" not in ran.out


def test_diff_as_json_is_one_document(run: Run, home: Path) -> None:
    """With every change in it, when asked for."""
    words = ("backup", "diff", str(home / "a.binproto"), str(home / "b.binproto"), "--json")
    plain, detailed = json.loads(run(*words).out), json.loads(run(*words, "--detail").out)
    assert plain["same"] is False
    (chat,) = plain["chats"]
    assert (chat["changed"], chat["aspects"]) == (1, {"edited": 1})
    (change,) = detailed.pop("changes")
    assert (change["what"], change["chat"]) == (["edited"], chat["chat"])
    assert detailed == plain
    same = run("backup", "diff", str(home / "a.binproto"), str(home / "a.binproto"), "--json", "--detail")
    assert json.loads(same.out)["changes"] == []
    assert same.status == 0


def test_diff_looks_at_one_chat(run: Run, home: Path) -> None:
    """By its name; one that is not there is wrong usage."""
    words = ("backup", "diff", str(home / "a.binproto"), str(home / "b.binproto"))
    assert run(*words, "--chat", "note to self").status == 0
    assert run(*words, "--chat", "harbour").status == 1
    check_failure(run(*words, "--chat", "no such chat"), ExitCode.USAGE, "no such chat")


def test_each_backup_takes_the_key_that_fits(run: Run, home: Path) -> None:
    """Whichever comes first; without one that fits it is the wrong key."""
    (home / "x.backup").write_bytes(container_of(sample(60)))
    words = ("backup", "diff", str(home / "x.backup"), str(home / "a.binproto"))
    wrong, right = ("--key-file", str(home / "wrong.txt")), ("--key-file", str(home / "keys.txt"))
    assert run(*words, *wrong, *right).status == 0
    check_failure(run(*words, *wrong), ExitCode.WRONG_KEY)
    check_failure(run(*words), ExitCode.USAGE, "--key-file")


def test_standard_input_is_one_of_them(spawn: Run, home: Path) -> None:
    """And only one."""
    data = (home / "a.binproto").read_bytes()
    assert spawn("backup", "diff", "-", str(home / "a.binproto"), data=data).status == 0
    assert spawn("backup", "diff", "-", "-", data=data).status == ExitCode.USAGE


def test_merge_writes_one_and_lists_conflicts(run: Run, home: Path) -> None:
    """On standard error, and all of them to a file."""
    target, listed = home / "c.jsonl", home / "conflicts.jsonl"
    ran = run(
        *("backup", "merge", str(home / "a.binproto"), str(home / "b.binproto"), "-o", str(target)),
        *("--conflicts", str(listed)),
    )
    assert ran.status == 0, ran.err
    assert "60 messages" in ran.out
    assert "kept 'Harbour'" in ran.err
    lines = [json.loads(line) for line in listed.read_text().splitlines()]
    assert {line["what"] for line in lines} == {"group", "message"}
    with backup.open(target) as merged:
        assert merged.form == backup.Form.LINES
    assert difference((home / "b.binproto").read_bytes(), target.read_bytes()).same


def test_merge_refuses_what_it_cannot_do(run: Run, home: Path) -> None:
    """Two accounts, one backup, a form nobody named; and leaves nothing."""
    a, target = str(home / "a.binproto"), home / "c.binproto"
    other = str(home / "other.binproto")
    check_failure(run("backup", "merge", a, other, "-o", str(target)), ExitCode.NO, "two accounts")
    assert run("backup", "merge", a, "-o", str(target)).status == ExitCode.USAGE
    assert run("backup", "merge", a, a, "-o", str(home / "c")).status == ExitCode.USAGE
    cut = home / "cut.binproto"
    cut.write_bytes((home / "a.binproto").read_bytes()[:-5])
    check_failure(
        run("backup", "merge", a, str(cut), "-o", str(target)), ExitCode.UNREADABLE, "middle of a record"
    )
    assert not target.exists()
    assert run("backup", "merge", a, other, "-o", str(target), "--same-account").status == 0
    check(target.read_bytes())


def test_merge_of_a_folder_and_a_file_writes_a_folder(run: Run, home: Path) -> None:
    """Encrypted with the keys of the source, with its attachments."""
    folder = folder_of(sample(60), home / "phone")
    words = ("backup", "merge", str(folder), str(home / "b.binproto"), "--key-file", str(home / "keys.txt"))
    ran = run(*words, "-o", str(home / "out"), "--to", "folder", "--json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["written"]["attachments"] > 0
    assert backup.info(home / "out", KEYS).counts["chatItem"] == 60


def test_crop_writes_part_of_a_backup(run: Run, home: Path) -> None:
    """What was asked for, still valid."""
    target = home / "c.binproto"
    ran = run("backup", "crop", str(home / "b.binproto"), str(target), "--chat", "Harbour", "--without-media")
    assert ran.status == 0, ran.err
    assert "1 of " in ran.out
    check(target.read_bytes())
    ran = run(
        "backup",
        "crop",
        str(home / "b.binproto"),
        str(target),
        "--since",
        "2023",
        "--until",
        "2023",
        "--json",
        "--force",
    )
    done = json.loads(ran.out)
    assert 0 < done["messages"] < 60
    check(target.read_bytes())


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--since", "soon"),
        ("--since", "2024", "--until", "2023"),
        ("--chat", "no such chat"),
        ("--without-chat", "no such chat"),
    ],
)
def test_crop_needs_to_be_told_what_it_can_understand(run: Run, home: Path, words: tuple[str, ...]) -> None:
    """One line, and nothing is written."""
    ran = run("backup", "crop", str(home / "a.binproto"), str(home / "c.binproto"), *words)
    check_failure(ran, ExitCode.USAGE)
    assert not (home / "c.binproto").exists()


def test_crop_goes_from_pipe_to_pipe(spawn: Run, home: Path) -> None:
    """JSON out, if asked for."""
    data = (home / "a.binproto").read_bytes()
    ran = spawn("backup", "crop", "-", "-", "--to", "jsonl", "--since", "2000", data=data)
    assert ran.status == 0, ran.err
    assert difference(ran.out.encode(), data).same


def test_a_backup_is_not_written_over(run: Run, home: Path) -> None:
    """It may be the only one; what is made from it may replace an older one of its kind."""
    a, c = home / "a.binproto", home / "c.binproto"
    before = a.read_bytes()
    assert run("backup", "merge", str(a), str(home / "b.binproto"), "-o", str(a), "--force").status == ExitCode.NO
    assert run("backup", "crop", str(a), str(a), "--chat", "Note to Self", "--force").status == ExitCode.NO
    assert a.read_bytes() == before
    c.write_bytes(b"older")
    assert run("backup", "merge", str(a), str(home / "b.binproto"), "-o", str(c), "--force").status == 0
    assert difference(c.read_bytes(), (home / "b.binproto").read_bytes()).same
