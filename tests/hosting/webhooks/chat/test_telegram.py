"""Messages for Telegram."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, MessageParser, hook, hostile, sample, sent, wire


def test_a_message_has_its_form() -> None:
    """The repository, the issue and the user are links, and the text of the issue is preformatted."""
    request = sent("telegram")
    page = f"{ROOT}/ada/ship"
    assert request == {
        "text": f'[<a href="{page}">ada/ship</a>] issue opened: <a href="{page}/issues/1">#1 It leaks</a>'
        f' by <a href="{ROOT}/ada">ada</a>\n<pre>It leaks</pre>',
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }


def test_the_hook_may_name_the_chat() -> None:
    """The chat of a webhook is sent as `chat_id`."""
    request = wire(hook("telegram", meta='{"chat_id":"-100"}'), "issues", sample("issues", "opened"))
    assert json.loads(request.body)["chat_id"] == "-100"


@given(text=hostile, which=st.sampled_from(EVERY))
def test_text_is_not_interpreted_as_markup(text: str, which: tuple[str, str]) -> None:
    """Only our own tags are in the HTML, users' text is in links or code, and the length is limited."""
    request = sent("telegram", *which, text)
    parser = MessageParser()
    parser.feed(request["text"])
    parser.close()
    assert parser.open == []
    assert all(link.startswith(ROOT) for link in parser.links)
    assert len(parser.text) <= 4096
    assert not any(mark in parser.bare for mark in ("@", "#", "evil", "://", "<", "*"))
