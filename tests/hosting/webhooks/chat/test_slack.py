"""Messages for Slack."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, addresses, hook, hostile, sample, sent, wire


def test_a_message_has_its_form() -> None:
    """The message has the headline as text and as a block, and the text of the issue as an attachment."""
    request = sent("slack")
    assert list(request) == ["text", "blocks", "unfurl_links", "unfurl_media", "link_names", "attachments"]
    page = f"{ROOT}/ada/ship"
    assert request["text"] == (
        f"[<{page}|ada/ship>] issue opened: <{page}/issues/1|#\u200b1 It leaks> by <{ROOT}/ada|ada>"
    )
    (block,) = request["blocks"]
    (line,) = block["elements"]
    assert line["elements"][1] == {"type": "link", "url": page, "text": "ada/ship"}
    assert line["elements"][3] == {"type": "text", "text": "issue opened: "}
    (details,) = request["attachments"]
    assert details["color"] == "#2da44e"
    quote = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "It leaks"}]}
    assert details["blocks"][0]["elements"] == [quote]


def test_the_hook_sets_the_channel_and_the_user() -> None:
    """The channel, the user, the icon and the color are those of the hook."""
    meta = {"channel": "#ships", "username": "Harbour", "icon_url": f"{ROOT}/i.png", "color": "#123456"}
    payload = json.loads(wire(hook("slack", meta=json.dumps(meta)), "push", sample("push", "")).body)
    assert (payload["channel"], payload["username"], payload["icon_url"]) == ("#ships", "Harbour", f"{ROOT}/i.png")
    assert payload["attachments"][0]["color"] == "#123456"
    (section,) = payload["attachments"][0]["blocks"][0]["elements"]
    text = "".join(element["text"] for element in section["elements"])
    assert text.split("\n")[::5] == ["00000000 It leaks - It leaks", "and 2 more"]


@given(text=hostile, which=st.sampled_from(EVERY))
def test_text_is_not_interpreted_as_markup(text: str, which: tuple[str, str]) -> None:
    """The text has no markup of Slack except our links, and the blocks have only text and links."""
    request = sent("slack", *which, text)
    assert all(url.startswith(ROOT) for url in addresses(request, lambda key: key == "url"))
    rest = re.sub(rf"<{ROOT}[^|<>]*\|([^<>|]*)>", r"\1", request["text"])
    assert not set(rest) & set("<>*_~`|")
    assert not re.search(r"&(?!amp;|lt;|gt;)", rest)
    assert not re.search(r"[@#]\w|(?<!\u200b)://|\]\(", rest)
    kinds = set(addresses(request, lambda key: key == "type"))
    assert kinds <= {"rich_text", "rich_text_section", "rich_text_quote", "text", "link"}
    assert all(addresses(request["blocks"], lambda key: key == "text"))
