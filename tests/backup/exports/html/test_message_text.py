"""Plain text of messages for previews and the search."""

from holdfast.backup.archives.model import Card, CardField, Link, Poll, PollOption, TextRange
from holdfast.backup.exports.html.message_text import has_mentions, long_texts, preview_line, searchable_text
from tests.backup.exports.sample_messages import attachment, message

MENTION = TextRange(0, 1, None, 4, "Bob")
BOLD = TextRange(0, 1, "BOLD", None, None)


def test_a_line_says_who_said_what() -> None:
    """A preview is one line of limited length, with its author and the names of mentioned people."""
    assert preview_line(message("One\n two", author="Ada", direction="incoming")) == "Ada: One two"
    assert preview_line(message("\ufffc here?", ranges=(MENTION,), direction="outgoing")) == "You: @Bob here?"
    assert len(preview_line(message("x" * 1000, author="Ada", direction="incoming"))) == len("Ada: ") + 90
    assert preview_line(message(None, kind="update", direction="none", sentence="Ada joined.")) == "Ada joined."
    assert preview_line(message(None, attachments=(attachment(),), direction="outgoing")) == "You: 📎"


def test_the_search_finds_all_that_can_be_read() -> None:
    """The searchable text has sentences, file names, previews, poll answers and cards, not earlier revisions."""
    assert searchable_text(message("\ufffc here", ranges=(MENTION,))) == "@Bob here"
    assert searchable_text(message(None)) == ""
    text = searchable_text(
        message(
            "look",
            kind="poll",
            sentence="A poll.",
            attachments=(
                attachment(file_name="a.png", caption="cat"),
                attachment(file_name="old.png", caption=None, revision=1),
            ),
            links=(Link("https://a.example", "Title", None, None),),
            poll=Poll("When?", False, False, (PollOption("Now", ()),)),
            card=Card("Eve", None, (CardField("phone", "HOME", None, "+1"),)),
        )
    )
    assert text == "look · A poll. · a.png · cat · Title · https://a.example · Now · +1"


def test_who_mentions_somebody_is_told() -> None:
    """A mention in the text or in the quote counts, and a style does not."""
    assert has_mentions(message("x", ranges=(BOLD, MENTION)))
    assert has_mentions(message("x", quote_ranges=(MENTION,)))
    assert not has_mentions(message("x", ranges=(BOLD,)))


def test_files_that_hold_texts_are_told() -> None:
    """Only long texts with a media name are listed."""
    files = (
        attachment(role="long_text", media_name="m"),
        attachment(role="long_text", media_name=None),
        attachment(),
    )
    assert [name for name, _type, _file in long_texts(message("x", attachments=files))] == ["m"]
