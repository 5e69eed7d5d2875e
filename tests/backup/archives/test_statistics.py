"""Statistics of an archive."""

from itertools import pairwise
from statistics import median_low

from holdfast.backup.archives import Archive


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
