"""Messages for Matrix."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, UUID, MessageParser, hook, hostile, sample, sent, wire

ROOM = "https://matrix.example/_matrix/client/v3/rooms/!a%3Ab/send/m.room.message"


def test_a_message_is_put_under_the_id_of_its_delivery() -> None:
    """The transaction id in the URL is that of the delivery, so that Matrix ignores a second request."""
    for url in (ROOM, f"{ROOM}/"):
        request = wire(hook("matrix", url), "issues", sample("issues", "opened"))
        assert (request.method, request.url) == ("PUT", f"{ROOM}/{UUID}")
    with_query = wire(hook("matrix", f"{ROOM}?x=1"), "issues", sample("issues", "opened"))
    assert with_query.url == f"{ROOM}/{UUID}?x=1"


def test_a_message_has_its_form() -> None:
    """A message has plain text and HTML, is a notice unless the hook says otherwise, and mentions nobody."""
    request = sent("matrix")
    page = f"{ROOT}/ada/ship"
    assert request == {
        "msgtype": "m.notice",
        "body": "[ada/ship] issue opened: #\u200b1 It leaks by ada\n> It leaks",
        "format": "org.matrix.custom.html",
        "formatted_body": f'[<a href="{page}">ada/ship</a>] issue opened: '
        f'<a href="{page}/issues/1">#1 It leaks</a> by <a href="{ROOT}/ada">ada</a>'
        "<blockquote>It leaks</blockquote>",
        "m.mentions": {},
    }
    loud = wire(hook("matrix", meta='{"message_type":"2"}'), "issues", sample("issues", "opened"))
    assert json.loads(loud.body)["msgtype"] == "m.text"


@given(text=hostile, which=st.sampled_from(EVERY))
def test_text_is_not_interpreted_as_markup(text: str, which: tuple[str, str]) -> None:
    """Only our own tags and links are in the HTML, and nothing in the text becomes a link or a mention."""
    request = sent("matrix", *which, text)
    parser = MessageParser()
    parser.feed(request["formatted_body"].replace("<br>", "\n"))
    parser.close()
    assert parser.open == []
    assert all(link.startswith(ROOT) for link in parser.links)
    outside = re.sub(r"<a [^>]*>.*?</a>", "", request["formatted_body"], flags=re.DOTALL)
    for shown in (request["body"], outside):
        assert "@room" not in shown
        assert "://" not in shown.replace("\u200b://", "")
        assert "evil.example" not in shown
