"""Full-text search."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.backup import archives
from holdfast.backup.archives import Archive, Filters
from holdfast.backup.errors import ArchiveError, NotInArchive, QueryRefused
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.examples import examples

TEXTS = (
    "Café in Zürich, naïve déjà vu",
    "我们明天去北京吃饭",
    "今日は東京タワーに行きます",
    "그래서 서울에서 만나요",
    "พรุ่งนี้ไปกรุงเทพ",
    "thumbs 👍🏽 and a family 👨‍👩‍👧",
    "flag 🇨🇭 day",
    "don't panic: it's 5 o'clock",
    'a "quoted" thing',
    "see https://example.org/page",
)


@pytest.fixture(scope="module")
def multilingual_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an archive of texts in many scripts."""
    folder = tmp_path_factory.mktemp("tongues")
    header, frames = copies()
    plain = [item for item in items(frames) if item.standardMessage.text.body and not item.revisions]
    for item, text in zip(plain, TEXTS, strict=False):
        item.standardMessage.Clear()
        item.standardMessage.text.body = text
    import_backups(folder / "a.db", write(folder / "one", header, frames))
    return folder / "a.db"


def search_texts(path: Path, query: str, **filters: object) -> list[str | None]:
    """Search and return the texts."""
    with archives.open(path) as opened:
        hits = opened.search(query, filters=Filters(**filters)).hits  # type: ignore[arg-type]  # filters of several types
        return [hit.message.text for hit in hits]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("cafe zurich", 0),
        ("CAFÉ", 0),
        ("naiv*", 0),
        ('"deja vu"', 0),
        ("北京", 1),
        ("京吃", 1),
        ("饭", 1),
        ("東京タワー", 2),
        ("서울", 3),
        ("กรุงเทพ", 4),
        ("👍", 5),
        ("👍🏿 thumbs", 5),
        ("👩", 5),
        ("🇨🇭", 6),
        ("don't", 7),
        ("quoted", 8),
        ("example.org", 9),
    ],
)
def test_words_of_all_scripts_are_found(multilingual_archive: Path, query: str, number: int) -> None:
    """Accents are folded, prefixes and phrases work, and CJK text, Thai and emoji of any skin tone are found."""
    assert TEXTS[number] in search_texts(multilingual_archive, query)


@pytest.mark.parametrize("query", ['"vu deja"', "京北", "cafe -naive", "zzzz"])
def test_what_is_not_there_is_not_found(multilingual_archive: Path, query: str) -> None:
    """The order of words in a phrase matters, and an excluded word excludes its messages."""
    assert not set(TEXTS) & set(search_texts(multilingual_archive, query))


def test_either_of_two_words_will_do(multilingual_archive: Path) -> None:
    """A query with OR finds the messages with either of the two words."""
    assert {TEXTS[0], TEXTS[8]} <= set(search_texts(multilingual_archive, "cafe OR quoted"))


def test_filters_narrow(opened: Archive) -> None:
    """Filters apply to every hit, whether they are part of the query or given as `Filters`."""
    for order in ("date", "rank"):
        hits = opened.search("the is:in since:2020 has:media OR", order=order, limit=100).hits
        assert hits
        assert all(hit.message.direction == "incoming" and hit.message.attachments for hit in hits)
    chat = max(opened.chats(), key=lambda row: row.messages)
    inside = opened.search("the", filters=Filters(chat=str(chat.id)), limit=500).hits
    assert inside
    assert {hit.message.chat_id for hit in inside} == {chat.id}
    own = opened.search("from:me the", limit=500).hits
    assert {hit.message.direction for hit in own} == {"outgoing"}
    assert {hit.message.kind for hit in opened.search("kind:poll").hits} == {"poll"}
    assert {hit.message.kind for hit in opened.search("kind:gift_badge").hits} == {"gift_badge"}
    all_hits = opened.search("the", limit=500).hits
    middle = all_hits[len(all_hits) // 2].message.sent_ms
    after = opened.search("the", filters=Filters(since_ms=middle), limit=500).hits
    before = opened.search("the", filters=Filters(until_ms=middle // 1000 * 1000), limit=500).hits
    assert len(after) + len(before) >= len(all_hits)
    # The time of an edited message is that of its first version.
    starts, ends = (
        [min([hit.message.sent_ms, *(revision.sent_ms for revision in hit.message.revisions)]) for hit in hits]
        for hits in (after, before)
    )
    assert min(starts) >= middle // 1000 * 1000 > max(ends)


def test_pages_of_hits_go_on_where_the_last_ended(opened: Archive) -> None:
    """Pages of hits have every hit once, in the order of the whole result."""
    ids = [hit.message.id for hit in opened.search("the", limit=500).hits]
    paged: list[int] = []
    below: int | None = None
    while True:
        page = opened.search("the", limit=7, below=below)
        paged += [hit.message.id for hit in page.hits]
        below = page.more
        if below is None:
            break
    assert paged == ids


def test_hits_have_context_and_marks(opened: Archive) -> None:
    """The messages before and after a hit are of its chat and in order, and its snippet has marks."""
    hit = next(hit for hit in opened.search("the", context=2).hits if hit.before and hit.after)
    assert "\x02" in hit.snippet
    assert {message.chat_id for message in (*hit.before, *hit.after)} == {hit.message.chat_id}
    assert hit.before[-1].position < hit.message.position < hit.after[0].position


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "***",
        "-the",
        "()",
        "kind:nothing",
        "has:money",
        "is:up",
        "since:yesterday",
        "x" * 5000,
        "\x00",
        "a " * 99,
    ],
)
def test_hostile_queries_are_refused_in_one_line(opened: Archive, query: str) -> None:
    """Malformed, unknown and oversized queries raise `QueryRefused` with a message of one line."""
    with pytest.raises(QueryRefused) as caught:
        opened.search(query)
    assert "\n" not in str(caught.value)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60) | st.from_regex(r'[a-z"*:()^{}+\- ]{0,30}', fullmatch=True))
def test_no_query_breaks_the_index(opened: Archive, query: str) -> None:
    """Any query is answered or refused with an `ArchiveError`."""
    with suppress(ArchiveError):
        opened.search(query, limit=3)


def test_unknown_people_and_chats_are_named(opened: Archive) -> None:
    """A filter with an unknown person or chat raises `NotInArchive`."""
    with pytest.raises(NotInArchive, match="no person named"):
        opened.search("the from:zzzz")
    with pytest.raises(NotInArchive, match="no chat"):
        opened.search("the chat:zzzz")


def test_edited_words_are_found_and_former_ones_are_not(tmp_path: Path) -> None:
    """Only the text of the latest backup is found, in a mixed order of imports."""
    header, frames = copies()
    source = write(tmp_path / "one", header, frames)
    item = next(item for item in items(frames) if item.standardMessage.text.body and not item.revisions)
    item.standardMessage.text.body = "quicksilver"
    header.backupTimeMs += 1
    two = write(tmp_path / "two", header, frames)
    item.standardMessage.text.body = "mercury"
    header.backupTimeMs -= 2
    zero = write(tmp_path / "zero", header, frames)
    sources = [zero, source, two]
    random.Random(3).shuffle(sources)
    import_backups(tmp_path / "a.db", *sources)
    assert search_texts(tmp_path / "a.db", "quicksilver") == ["quicksilver"]
    assert search_texts(tmp_path / "a.db", "mercury") == []
