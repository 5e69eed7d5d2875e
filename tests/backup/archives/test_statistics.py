"""Counting what an archive holds, and drawing it."""

from dataclasses import replace
from itertools import pairwise
from statistics import median_low
from xml.etree import ElementTree

from holdfast.backup.archives import Archive
from holdfast.backup.archives.chart import chart
from holdfast.backup.archives.statistics import MessageCount


def test_all_counts_add_up(opened: Archive) -> None:
    """Months, hours, kinds, chats and people each count every message once."""
    found = opened.statistics()
    assert found.messages == 400
    assert sum(count for _, count in found.months) == 400
    assert sum(sum(day) for day in found.hours) == 400
    assert sum(count for _, count in found.kinds) == 400
    assert sum(one.messages for one in found.chats) == 400
    assert found.media
    assert all(0 <= reply.median_s <= 12 * 3600 for reply in found.replies)


def test_one_chat_is_counted_alone(opened: Archive) -> None:
    """By the same rules."""
    chat = max(opened.chats(), key=lambda one: one.messages)
    found = opened.statistics(chat.id)
    assert found.messages == chat.messages
    assert [one.id for one in found.chats] == [chat.id]


def test_answers_are_timed_from_the_last_message_of_the_other(opened: Archive) -> None:
    """In one-to-one chats, up to half a day; the middle one of all counts."""
    took: dict[int, list[int]] = {}
    for chat in opened.chats():
        talk = (
            [one for one in opened.messages(chat.id) if one.direction != "none"] if chat.kind == "contact" else []
        )
        for asked, answer in pairwise(talk):
            waited = answer.sent_ms - asked.sent_ms
            if asked.author_id != answer.author_id and 0 <= waited <= 12 * 3_600_000:
                took.setdefault(answer.author_id, []).append(waited)
    assert took
    assert {one.id: (one.answers, one.median_s) for one in opened.statistics().replies} == {
        who: (len(times), median_low(times) // 1000) for who, times in took.items()
    }


def test_the_picture_is_well_formed_whatever_people_are_called(opened: Archive) -> None:
    """Names are text in it, never markup."""
    found = opened.statistics()
    hostile = MessageCount(1, "</text><script>alert(1)</script>\x00\x1b\ufffe", 5, 5)
    drawn = chart(replace(found, chats=(hostile, *found.chats)))
    root = ElementTree.fromstring(drawn)
    assert root.tag.endswith("svg")
    assert not [one for one in root.iter() if one.tag.endswith("script")]
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_nothing_can_be_drawn_too(opened: Archive) -> None:
    """A chat without messages."""
    drawn = chart(opened.statistics(0))
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
