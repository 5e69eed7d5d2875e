"""Messages for Microsoft Teams."""

from hypothesis import given
from hypothesis import strategies as st

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, addresses, hostile, sent


def test_a_message_has_its_form() -> None:
    """The message is an adaptive card with the URL of the issue."""
    request = sent("msteams")
    assert request["type"] == "message"
    (attachment,) = request["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    assert card["fallbackText"] == "[ada/ship] issue opened: #1 It leaks by ada"
    assert card["actions"] == [
        {"type": "Action.OpenUrl", "title": "Open", "url": f"{ROOT}/ada/ship/issues/1"},
    ]
    headline, body = card["body"]
    assert headline["inlines"][1] == {
        "type": "TextRun",
        "text": "ada/ship",
        "weight": "Bolder",
        "selectAction": {"type": "Action.OpenUrl", "url": f"{ROOT}/ada/ship"},
    }
    assert body["items"] == [{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": "It leaks"}]}]


@given(text=hostile, which=st.sampled_from(EVERY))
def test_text_is_not_interpreted_as_markup(text: str, which: tuple[str, str]) -> None:
    """Text is in TextRuns, which have no markup; URLs are of this service, and the size is limited."""
    request = sent("msteams", *which, text)
    assert all(url.startswith(ROOT) for url in addresses(request, lambda key: key == "url"))
    kinds = set(addresses(request, lambda key: key == "type"))
    assert kinds <= {"message", "AdaptiveCard", "RichTextBlock", "TextRun", "Container", "Action.OpenUrl"}
    assert len(str(request).encode()) < 28_000
