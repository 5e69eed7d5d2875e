"""Queries over datasets, in a folder and in a bucket."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import holdfast.backup as hb
from holdfast.backup.datasets.targets import DatasetManifest, S3Target, open_target
from holdfast.backup.schema import Frame
from tests.backup.streams import message_stream, sample, stream_of
from tests.conftest import ROOT
from tests.s3_server import ACCESS_KEY, SECRET_KEY, S3Server, s3_server

TEXTS = (
    "Bring the umbrella tomorrow",
    "The COLUMBIA umbrage",
    "Umbrella, und später Café",
    "我们明天去图书馆",
    "well done 👍",
    "100% sure (really)",
)


def text_backup(*texts: str) -> bytes:
    """Write a backup with some texts."""
    frames = []
    person, chat = Frame(), Frame()
    person.recipient.id, person.recipient.contact.profileGivenName = 3, "Ada"
    chat.chat.id, chat.chat.recipientId = 4, 3
    for number, text in enumerate(texts):
        frame = Frame()
        frame.chatItem.chatId, frame.chatItem.authorId, frame.chatItem.dateSent = 4, 3, 1000 * (number + 1)
        frame.chatItem.incoming.SetInParent()
        frame.chatItem.standardMessage.text.body = text
        frames.append(frame)
    return message_stream(person, chat, *frames)


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    """Run an S3 server."""
    with s3_server() as running:
        yield running


@pytest.fixture(params=["folder", "s3"])
def dataset_target(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an empty target: a bucket, or a folder with special characters of glob patterns and SQL."""
    if request.param == "folder":
        return str(tmp_path / "it's [data] *")
    bucket_server: S3Server = request.getfixturevalue("server")
    use_bucket(bucket_server, monkeypatch)
    return f"s3://{bucket_server.name}/datasets/chats"


def use_bucket(bucket_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use an empty bucket of a server."""
    bucket_server.use_new_bucket()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket_server.endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")


def build(target: str, folder: Path, **contents: bytes) -> hb.DatasetBuild:
    """Build a dataset of some backups."""
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return hb.build_dataset([folder], target, workers=1)


def test_a_dataset_is_searched_counted_and_validated(dataset_target: str, tmp_path: Path) -> None:
    """Search, statistics and validation work in a folder and in a bucket."""
    summary = build(dataset_target, tmp_path / "backups", ada=text_backup(*TEXTS), bob=stream_of(sample(60)))
    assert summary.complete
    hits = hb.search_dataset(dataset_target, "umbr")
    assert [hit.text for hit in hits if hit.backup == "ada"] == [TEXTS[2], TEXTS[1], TEXTS[0]]
    assert {(hit.chat, hit.author) for hit in hits if hit.backup == "ada"} == {("Ada", "Ada")}
    with hb.dataset_connection(dataset_target) as connection:
        rows = connection.sql("SELECT backup, count(*) FROM messages GROUP BY 1 ORDER BY 1").fetchall()
    assert rows == [("ada", len(TEXTS)), ("bob", hb.info(tmp_path / "backups" / "bob").counts["chatItem"])]
    statistics = hb.dataset_statistics(dataset_target)
    assert (statistics.backups, statistics.rows["messages"]) == (2, summary.messages)
    assert sum(statistics.months.values()) == sum(statistics.kinds.values()) == summary.messages
    assert statistics.months["1970-01"] == len(TEXTS)
    assert statistics.largest == dict(rows[::-1])
    problems = {fault.backup for fault in hb.validate_dataset(dataset_target)}
    assert problems == ({"ada"} if statistics.findings.get("error") else set())


def test_a_dataset_without_backups_has_no_rows(dataset_target: str, tmp_path: Path) -> None:
    """A dataset whose only backup failed can be queried, and its tables have no rows."""
    assert build(dataset_target, tmp_path / "backups", bad=b"nothing").failed == ("bad",)
    assert hb.search_dataset(dataset_target, "x") == []
    assert hb.dataset_statistics(dataset_target).rows["calls"] == 0
    (fault,) = hb.validate_dataset(dataset_target)
    assert fault.problem.startswith("could not be read: ")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("umbrella", {0, 2}),
        ("UMBRELLA spat", {2}),
        ("cafe", {2}),
        ("brella", set()),
        ("明天", {3}),
        ("👍", {4}),
        ("100%", {5}),
        ("(really)", {5}),
        (".*", set()),
    ],
)
def test_words_are_found_by_their_beginning(text_dataset: Path, query: str, expected: set[int]) -> None:
    """Case and accents make no difference; other scripts and signs are found anywhere."""
    assert {TEXTS.index(hit.text) for hit in hb.search_dataset(text_dataset, query)} == expected


@pytest.fixture(scope="module")
def text_dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a dataset of some texts, once."""
    folder = tmp_path_factory.mktemp("said")
    build(str(folder / "out"), folder / "backups", ada=text_backup(*TEXTS))
    return folder / "out"


def test_a_search_needs_words_and_gives_so_many(text_dataset: Path) -> None:
    """A search has one to 20 words, and gives the latest messages up to the limit."""
    for query in ("", "  ", "a " * 30):
        with pytest.raises(hb.QueryRefused, match="search for one to 20 words"):
            hb.search_dataset(text_dataset, query)
    assert [hit.sent_ms for hit in hb.search_dataset(text_dataset, "umbr", limit=2)] == [3000, 2000]


def test_names_of_backups_are_text(tmp_path: Path) -> None:
    """The name of a backup that looks like a number or a date stays text."""
    build(str(tmp_path / "out"), tmp_path / "backups", **{"007": text_backup("a"), "2024-05-01": text_backup("b")})
    assert {hit.backup for hit in hb.search_dataset(tmp_path / "out", "a")} == {"007"}
    assert list(hb.dataset_statistics(tmp_path / "out").largest) == ["007", "2024-05-01"]


def test_files_that_are_not_those_of_the_manifest_are_found(tmp_path: Path) -> None:
    """A backup without its record and one with another row count are reported."""
    out = tmp_path / "out"
    build(str(out), tmp_path / "backups", **dict.fromkeys(("one", "two"), stream_of(sample(20))))
    assert hb.validate_dataset(out) == []
    (out / "_backups" / "one.json").unlink()
    one, two = open_target(out).read_manifest().backups
    two = msgspec.structs.replace(two, rows={**two.rows, "calls": 7_000})
    (out / "_backups" / "two.json").write_bytes(msgspec.json.encode(two))
    open_target(out).write_manifest(DatasetManifest(1, [one, two], []))
    problems = {fault.backup: fault.problem for fault in hb.validate_dataset(out)}
    assert set(problems) == {"one", "two"}
    assert "not those of the last build" in problems["one"]
    assert "rows instead of 7,000" in problems["two"]


@pytest.mark.parametrize("table", ["messages", "findings"])
def test_a_damaged_file_is_named(dataset_target: str, tmp_path: Path, table: str) -> None:
    """Validation names the backup and goes on with the others; queries are refused, and point to it."""
    broken = message_stream(Frame())
    build(dataset_target, tmp_path / "backups", one=stream_of(sample(20)), two=broken)
    target = open_target(dataset_target)
    path = f"{table}/backup=one/data.parquet"
    size = target.records()["one"].sizes[table]
    if isinstance(target, S3Target):
        target.store().put(path, bytes(size))
    else:
        (Path(dataset_target) / path).write_bytes(bytes(size))
    (damaged,) = (fault for fault in hb.validate_dataset(dataset_target) if fault.backup == "one")
    assert f"table {table} is damaged" in damaged.problem
    with pytest.raises(hb.UnreadableBackup, match="holdfast dataset validate"):
        hb.search_dataset(dataset_target, "dinner")
    with pytest.raises(hb.UnreadableBackup, match="holdfast dataset validate"):
        hb.dataset_statistics(dataset_target)


def test_a_rule_that_is_broken_once_is_counted_so(tmp_path: Path) -> None:
    """One is a number of its own."""
    build(str(tmp_path / "out"), tmp_path / "backups", one=message_stream(Frame()))
    problems = [fault.problem for fault in hb.validate_dataset(tmp_path / "out")]
    assert any(problem.endswith(" once") for problem in problems)
    assert not any(problem.endswith(" 1 times") for problem in problems)


def test_a_dataset_of_a_later_version_is_refused(tmp_path: Path) -> None:
    """A dataset with a later schema version raises `ArchiveTooNew`, as it may be misread."""
    open_target(tmp_path).write_manifest(DatasetManifest(2, [], []))
    with pytest.raises(hb.ArchiveTooNew, match="newer version"):
        hb.search_dataset(tmp_path, "x")


def test_the_queries_of_the_guide_run_over_s3(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every Python block of the guide runs with a bucket of an S3 server."""
    use_bucket(server, monkeypatch)
    folder = tmp_path / "backups"
    folder.mkdir()
    for seed in (1, 2):
        (folder / f"{seed}.binproto").write_bytes(stream_of(sample(60, seed)))
    guide = (ROOT / "docs" / "guides" / "datasets.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) >= 4
    names: dict[str, object] = {}
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        code = block.replace("s3://my-bucket/chats", f"s3://{server.name}/chats")
        exec(compile(code, "datasets.md", "exec"), names)
