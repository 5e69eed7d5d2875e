"""The statistics page, with plots."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

from holdfast.backup.archives import Statistics
from holdfast.backup.archives.item_rows import KINDS
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.statistics_page import (
    KIND_WORDS,
    count_by_time,
    format_duration,
    hour_plot,
    month_plot,
    name_kinds,
)
from tests.backup.archives.histories import import_backups
from tests.web.chats.conftest import EVIL, OpenFile, drawn_in, shown_in


def count_messages(opened: OpenArchive) -> Statistics:
    """Return the statistics that the page shows."""
    counted = shown_in(opened, "statistics").values["found"]
    assert isinstance(counted, Statistics)
    return counted


def test_plots_show_all_messages(opened: OpenArchive) -> None:
    """The months and hours are drawn in well-formed SVG, and the page has the total and no inline style."""
    counted = count_messages(opened)
    months = count_by_time(counted)
    assert sum(count for _, count in months) == counted.messages
    drawing = ET.fromstring(str(month_plot(months)))
    assert len(drawing.findall("rect")) == len(months)
    assert len(ET.fromstring(str(hour_plot(counted))).findall("rect")) == 2 * 7 * 24
    page = drawn_in(opened, "statistics")
    assert f"{counted.messages:,}" in page
    assert " style=" not in page
    assert "<style" not in page


def test_kinds_are_named_in_words(opened: OpenArchive) -> None:
    """Kinds have singular and plural names, except plain messages and unknown kinds."""
    assert KIND_WORDS.keys() == set(KINDS) - {"", "message"}
    counted = replace(
        count_messages(opened), kinds=(("message", 9), ("update", 8), ("story_reply", 3), ("new", 2), ("poll", 1))
    )
    assert name_kinds(counted) == [("updates", 8), ("story replies", 3), ("poll", 1)]
    many = replace(counted, kinds=tuple((kind, 2) for kind in KIND_WORDS))
    assert len(name_kinds(many)) == 4
    page = drawn_in(opened, "statistics")
    assert all(f"<dt>{words}</dt>" in page for words, _ in name_kinds(count_messages(opened)))


def test_one_chat_is_counted_alone(opened: OpenArchive) -> None:
    """The statistics page links to the page of a chat, which counts the messages of that chat only."""
    with opened.reading() as archive:
        chat = max(archive.chats(), key=lambda one: one.messages)
    assert f'href="/statistics?chat={chat.id}"' in drawn_in(opened, "statistics")
    counted = shown_in(opened, "statistics", chat=str(chat.id)).values["found"]
    assert isinstance(counted, Statistics)
    assert counted.messages == chat.messages


def test_months_without_messages_are_gaps_and_too_many_are_years(opened: OpenArchive) -> None:
    """Messages from a wrong clock, such as 1970, do not make a bar for every month since."""
    counted = count_messages(opened)
    few = replace(counted, months=(("2020-11", 3), ("2021-02", 4)))
    assert count_by_time(few) == [("2020-11", 3), ("2020-12", 0), ("2021-01", 0), ("2021-02", 4)]
    many = replace(counted, months=(("1970-01", 1), ("2024-05", 2), ("9999-12", 3)))
    assert count_by_time(many) == [("1970", 1), ("2024", 2), ("9999", 3)]
    assert count_by_time(replace(counted, months=())) == []


def test_hostile_names_are_escaped_in_tables(hostile_archive: OpenArchive) -> None:
    """The statistics of the hostile archive have no markup and no event handler from its names."""
    page = drawn_in(hostile_archive, "statistics")
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"<[^>]+ on\w+=", page)


def test_durations_are_written_in_words() -> None:
    """A duration is written in seconds, minutes or hours, depending on its length."""
    assert [format_duration(30), format_duration(600), format_duration(7200)] == ["30 s", "10 min", "2.0 h"]


def test_an_empty_archive_has_nothing_to_count(tmp_path: Path, open_file: OpenFile) -> None:
    """The statistics page of an empty archive says that there are no messages."""
    import_backups(tmp_path / "empty.db")
    assert "No messages." in drawn_in(open_file(tmp_path / "empty.db"), "statistics")
