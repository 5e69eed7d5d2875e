"""Messages for Telegram."""

import json
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, hook, hostile, sample, sent, wire


class Reader(HTMLParser):
    """Reads a message as Telegram does: which tags, which text below which."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text, self.bare = "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        """Note its end."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data
        if not self.open:
            self.bare += data


def test_a_message_has_its_form() -> None:
    """The repository, the issue and the person are links; what somebody wrote is shown as it is."""
    request = sent("telegram")
    page = f"{ROOT}/ada/ship"
    assert request == {
        "text": f'[<a href="{page}">ada/ship</a>] issue opened: <a href="{page}/issues/1">#1 It leaks</a>'
        f' by <a href="{ROOT}/ada">ada</a>\n<pre>It leaks</pre>',
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }


def test_the_hook_may_name_the_chat() -> None:
    """Where its address does not."""
    request = wire(hook("telegram", meta='{"chat_id":"-100"}'), "issues", sample("issues", "opened"))
    assert json.loads(request.body)["chat_id"] == "-100"


@given(text=hostile, which=st.sampled_from(EVERY))
def test_text_is_not_interpreted_as_markup(text: str, which: tuple[str, str]) -> None:
    """No tag but ours, nothing that people wrote outside of links and code, and no more than fits."""
    request = sent("telegram", *which, text)
    reader = Reader()
    reader.feed(request["text"])
    reader.close()
    assert reader.open == []
    assert all(link.startswith(ROOT) for link in reader.links)
    assert len(reader.text) <= 4096
    assert not any(mark in reader.bare for mark in ("@", "#", "evil", "://", "<", "*"))
