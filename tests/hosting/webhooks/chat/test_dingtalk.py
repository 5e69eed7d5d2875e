"""Messages for DingTalk."""

from urllib.parse import parse_qs, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.webhooks.chat.dingtalk import signed
from tests.hosting.webhooks.chat.samples import EVERY, ROOT, hook, hostile, sample, sent, wire


def test_a_message_has_its_form() -> None:
    """The message is a link card with the URL of the issue."""
    assert sent("dingtalk") == {
        "msgtype": "link",
        "link": {
            "title": "[ada/ship] issue opened: #1 It leaks by ada",
            "text": "It leaks",
            "messageUrl": f"{ROOT}/ada/ship/issues/1",
        },
    }
    assert sent("dingtalk", "issues", "closed")["link"]["text"] == "[ada/ship] issue closed: #1 It leaks by ada"


def test_a_secret_signs_the_url() -> None:
    """The timestamp and the signature are added to the query of the URL, which keeps its access token."""
    url = "https://oapi.example/robot/send?access_token=t"
    request = wire(hook("dingtalk", url, secret="sealed:s"), "issues", sample("issues", "opened"))
    query = parse_qs(urlsplit(request.url).query)
    assert (query["access_token"], query["timestamp"]) == (["t"], ["1700000000000"])
    assert request.url == signed(url, "s", 1_700_000_000_000)
    assert wire(hook("dingtalk", url), "issues", sample("issues", "opened")).url == url
    # Made with `printf '1700000000000\ns' | openssl dgst -sha256 -hmac s -binary | base64`.
    assert query["sign"] == ["izNUYw3bO0KxsDYzYMDR365t+vMgZSe8PyS8sv7esqs="]


@given(text=hostile, which=st.sampled_from(EVERY))
def test_a_card_is_short_and_leads_to_us(text: str, which: tuple[str, str]) -> None:
    """A card has limited lengths and a URL of this service, whatever users have written."""
    link = sent("dingtalk", *which, text)["link"]
    assert link["text"]
    assert len(link["title"]) <= 200
    assert len(link["text"]) <= 2000
    assert link["messageUrl"].startswith(ROOT)
