"""HTML of messages."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.archives import Archive, Message
from holdfast.backup.archives.model import (
    ArchivedAttachment,
    Card,
    CardField,
    Link,
    Poll,
    PollOption,
    Quote,
    Reaction,
    Revision,
    TextRange,
)
from holdfast.backup.exports.html.bubbles import (
    author_elements,
    bubble,
    color_of,
    continues_group,
    day_line,
    initials,
    plain_bubble,
)
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.backup.exports.html.files import size_label
from tests.backup.exports.hostile import MARKUP_INJECTIONS, TEXT_OR_MARKUP
from tests.backup.exports.sample_messages import Addresses, PageParser, attachment, message


def render(sample: Message, **more: Any) -> PageParser:
    """Show a message."""
    return PageParser(bubble(sample, Addresses(), **more))


def hostile(text: str, kind: str, direction: str) -> Message:
    """Return a message in which every user-provided text is the same."""
    return message(
        text,
        author=text,
        chat=text,
        kind=kind,
        direction=direction,
        sentence=text,
        status=text,
        attachments=tuple(
            attachment(role=role, n=n, content_type=kinds, file_name=text, caption=text, flag=text, path=path)
            for n, (role, kinds, path) in enumerate(
                (role, kinds, path)
                for role in ("attachment", "sticker", "quoted", "link_image", "avatar", "long_text", text)
                for kinds, path in (
                    ("image/png", "a.png"),
                    ("video/mp4", "a.mp4"),
                    (text, None),
                    ("audio/aac", "b"),
                )
            )
        ),
        reactions=(Reaction(2, text, text, 5),),
        quote=Quote(3, text, text, text, 4, 9),
        links=(Link(text, text, text, 5), Link(f"https://{text}", None, text, None)),
        ranges=(TextRange(0, 9, "SPOILER", None, None), TextRange(3, 2, None, 4, text)),
        quote_ranges=(TextRange(0, 3, "BOLD", None, None),),
        revisions=(Revision(1, 5, text),),
        poll=Poll(text, True, True, (PollOption(text, (text, text)), PollOption(text, ()))),
        expires_in_ms=60_000,
        pinned_ms=5,
        sms=True,
        vanished_ms=6,
    )


@settings(max_examples=60)
@given(
    TEXT_OR_MARKUP,
    st.sampled_from(["message", "poll", "sticker", "update", "payment", "deleted", '"><script>']),
    st.sampled_from(["incoming", "outgoing", "none"]),
)
def test_whatever_is_written_stays_text(text: str, kind: str, direction: str) -> None:
    """Markup in names, captions, file names, quotes, polls, cards and link previews creates no elements."""
    sample = hostile(text, kind, direction)
    page = render(sample)
    assert "script" not in page.tags
    card = message(kind="contact", card=Card(text, text, (CardField(text, text, text, text),)))
    assert render(card).tags.count("li") == 2


@pytest.mark.parametrize("text", MARKUP_INJECTIONS)
def test_links_of_previews_lead_to_the_web_only(text: str) -> None:
    """A preview is linked only if its URL is http or https, and its title is shown in any case."""
    page = render(message("x", links=(Link(text, "title", None, None),)))
    assert all(link.lower().startswith(("https://", "http://")) for link in page.links)
    assert "title" in page.text


def test_a_plain_message() -> None:
    """A message has its author, text and time, and an anchor with its id."""
    html = bubble(message("Hello <you>"), Addresses(), day=19675)
    assert html == (
        '<li class="m in k" id="m7"><span class="av c9" aria-hidden="true">A</span><div class="b">'
        '<b class="n c9" dir="auto">Ada</b><p class="t" dir="auto">Hello &lt;you&gt;</p>'
        '<p class="w"><time datetime="2023-11-14T22:13:20Z">22:13</time></p></div></li>\n'
    )


def test_messages_of_one_author_stand_together() -> None:
    """Messages are grouped unless much time passed, the author changed, or an update is between them."""
    first = message(sent_ms=1_000_000)
    assert continues_group(first, message(sent_ms=1_060_000))
    assert not continues_group(first, message(sent_ms=9_000_000))
    assert not continues_group(first, message(sent_ms=1_060_000, author_id=3))
    assert not continues_group(message(kind="update"), message())
    assert not continues_group(None, first)
    assert "av" not in bubble(first, Addresses(), follows=True)


def test_the_state_of_an_outgoing_message_is_said_in_words() -> None:
    """The status of an outgoing message is an `aria-label`, for screen readers; an incoming one has none."""
    assert 'aria-label="Read"' in bubble(message(direction="outgoing", status="read"), Addresses())
    assert "aria-label" not in bubble(message(direction="incoming", status="read"), Addresses())


def test_quotes_lead_to_their_target() -> None:
    """A quote of a known message links to it; one of an unknown message is shown without a link."""
    page = render(message("yes", quote=Quote(3, "Bo", "NORMAL", "Tea?", 4, 9)))
    assert page.links == ["1.html#m9"]
    unresolved = render(message("yes", quote=Quote(3, "Bo", "VIEW_ONCE", None, 4, None)))
    assert unresolved.links == []
    assert "View-once media" in unresolved.text


def test_files_are_shown_linked_or_named() -> None:
    """Images, videos and audio are embedded, other files are downloads, and missing ones have their size.

    The dimensions of an image are scaled down to the largest one, and absurd ones are left out.
    """
    kinds = ("image/png", "video/mp4", "audio/aac", "text/html", "image/svg+xml")
    html = bubble(
        message(None, attachments=tuple(attachment(content_type=kind, n=n) for n, kind in enumerate(kinds))),
        Addresses(),
    )
    assert 'class="album a2"' in html
    assert (html.count("<img"), html.count("<video"), html.count("<audio"), html.count(" download>")) == (
        1,
        1,
        1,
        2,
    )
    assert 'width="40" height="30" loading="lazy"' in html
    missing = render(message(None, attachments=(attachment(path=None, size=2_500_000),)))
    assert "photo.jpg2.5 MB, not available" in missing.text
    assert missing.links == []
    huge = bubble(message(None, attachments=(attachment(width=1 << 31, height=5),)), Addresses())
    assert "width" not in huge
    wide = bubble(message(None, attachments=(attachment(width=4000, height=3000),)), Addresses())
    assert 'width="420" height="315"' in wide
    tall = bubble(message(None, attachments=(attachment(width=3000, height=4000),)), Addresses())
    assert 'width="288" height="384"' in tall


def test_several_pictures_are_a_grid() -> None:
    """Two or more images or videos are a grid with one cell each, and other files are below it."""
    kinds = ("image/png", "application/pdf", "video/mp4", "image/jpeg")
    files = tuple(attachment(content_type=kind, n=n) for n, kind in enumerate(kinds))
    html = bubble(message("look", attachments=files), Addresses())
    assert html.count('class="cell"') == 3
    assert html.count(" download>") == 1
    assert html.index('class="album a3"') < html.index(" download>") < html.index("look")
    pair = bubble(message("look", attachments=files[:2]), Addresses())
    assert "album" not in pair
    many = bubble(message(None, attachments=tuple(attachment(n=n) for n in range(9))), Addresses())
    assert 'class="album a5"' in many


class SmallAddresses(Addresses):
    """URLs with thumbnails of pictures."""

    def thumbnail(self, attachment: ArchivedAttachment, address: str) -> str:
        """Return the URL of a thumbnail."""
        del attachment
        return f"{address}/small"


def test_a_small_copy_is_shown_and_leads_to_the_picture() -> None:
    """The image element has the address of the thumbnail and links to the full image."""
    sample = message(None, attachments=(attachment(),))
    full, small = bubble(sample, Addresses()), bubble(sample, SmallAddresses())
    url = re.findall(r'<img src="([^"]*)"', full)[0]
    assert re.findall(r'<img src="([^"]*)"', small) == [f"{url}/small"]
    assert f'href="{url}"' in small


class BlurredAddresses(Addresses):
    """URLs with placeholders made from the BlurHash of pictures."""

    def placeholder(self, attachment: ArchivedAttachment) -> str:
        """Return a data URL with the BlurHash."""
        return f"data:{attachment.blur_hash}" if attachment.blur_hash else ""


def test_a_picture_has_its_colours_before_it_is_there() -> None:
    """The BlurHash of an image is shown while it loads, and in place of a file that is missing."""
    stored = bubble(message(None, attachments=(attachment(blur_hash="00abcd"),)), BlurredAddresses())
    assert '<img class="ph" src="data:00abcd" alt="">' in stored
    missing = bubble(message(None, attachments=(attachment(blur_hash="00abcd", path=None),)), BlurredAddresses())
    assert '<img class="ico" src="data:00abcd" alt="">' in missing
    assert '"ph"' not in bubble(message(None, attachments=(attachment(),)), BlurredAddresses())


def test_files_of_earlier_wordings_are_not_shown() -> None:
    """Attachments of an earlier revision are not shown."""
    assert "photo" not in bubble(message("x", attachments=(attachment(revision=1),)), Addresses())


def test_everything_special_about_a_message_is_said() -> None:
    """Edits, timers, SMS, pins and a message's absence from a later backup are shown."""
    text = render(
        message(
            "now",
            revisions=(Revision(1, 5, "before"),),
            sms=True,
            expires_in_ms=3_600_000,
            pinned_ms=3,
            vanished_ms=1_700_000_000_000,
        )
    ).text
    for expected in ("Edited", "before", "SMS", "1 hour", "pinned", "gone from the backup of 2023-11-14 22:13"):
        assert expected in text


def test_polls_reactions_and_cards_say_who() -> None:
    """A poll shows its voters, reactions show their number, and a contact card shows its lines."""
    poll = Poll("Tea?", False, True, (PollOption("Yes", ("Ada", "Bo")), PollOption("No", ())))
    text = render(message("Tea?", kind="poll", poll=poll)).text
    assert text.count("Tea?") == 1
    assert "One answer, ended." in text
    assert "Yes 2Ada, Bo" in text
    reactions = tuple(Reaction(n, name, "❤️", 1) for n, name in enumerate(("Ada", "Bo")))
    assert "❤️\u202f2" in render(message(reactions=reactions)).text
    card = Card("Dr. Ada", "Engines", (CardField("phone", "HOME", None, "+1 555"),))
    assert "Dr. AdaEngines☎ +1 555" in render(message(None, kind="contact", card=card)).text


def test_what_happened_is_a_sentence_in_the_middle() -> None:
    """An update is shown as its sentence, without a bubble."""
    html = bubble(message(None, kind="update", direction="none", sentence="Ada joined."), Addresses())
    assert html.startswith('<li class="m up" id="m7"><p dir="auto">Ada joined.</p>')


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Ada Byron", "AB"),
        ("ada", "A"),
        ("", "?"),
        ("🎉", "🎉"),
        ("(x) - Zoë van Ö", "XÖ"),
        ("+1 555", "15"),
        ("ß", "SS"),
    ],
)
def test_initials(name: str, letters: str) -> None:
    """The initials are those of the first and the last word with letters, digits or an emoji."""
    assert initials(name) == letters


def test_colors_are_spread() -> None:
    """The ids of people are spread over all twelve colours."""
    assert {color_of(number) for number in range(300)} == set(range(12))


def test_sizes_are_words() -> None:
    """File sizes are written in decimal units, with one decimal place below ten."""
    sizes = [0, 999, 1000, 12_345, 999_999, 5_000_000, 7 * 10**18]
    expected = ["0 bytes", "999 bytes", "1.0 kB", "12 kB", "1000 kB", "5.0 MB", "7000000 TB"]
    assert [size_label(size) for size in sizes] == expected


def test_a_day_is_a_heading_to_jump_to() -> None:
    """The heading of a day has an anchor with its date."""
    assert PageParser(day_line(19675)).ids == ["d2023-11-14"]


def test_every_kind_of_message_of_a_history_can_be_shown(opened: Archive) -> None:
    """Every message is rendered as one item with text and its own anchor."""
    kinds = set()
    for chat in opened.chats():
        for entry in opened.messages(chat.id):
            page = render(entry)
            assert page.ids == [f"m{entry.id}"]
            assert page.text.strip()
            kinds.add(entry.kind)
    assert len(kinds) >= 9


@settings(max_examples=100)
@given(
    st.one_of(TEXT_OR_MARKUP, st.sampled_from(MARKUP_INJECTIONS)).filter(bool),
    st.sampled_from(["incoming", "outgoing"]),
    st.sampled_from([None, "read", "failed", '"><b>']),
    st.booleans(),
)
def test_a_text_alone_looks_as_any_message(text: str, direction: str, status: str | None, follows: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """The shortcut for messages of text only gives the same HTML as a whole message."""
    sample = message(text, author=text, direction=direction, status=status)
    day = sample.sent_ms // 86_400_000
    html = plain_bubble(
        sample.id,
        text,
        author_elements(sample.author_id, sample.author),
        TimeFormatter().time_element(sample.sent_ms, day),
        status,
        is_own=direction == "outgoing",
        follows=follows,
    )
    assert html == bubble(sample, Addresses(), day=day, follows=follows)
