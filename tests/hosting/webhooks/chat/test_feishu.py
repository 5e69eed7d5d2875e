"""Messages for Feishu and Lark."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.webhooks.chat.feishu import signature
from tests.hosting.webhooks.chat.samples import EVERY, ROOT, addresses, hook, hostile, sample, sent, wire


def test_a_message_has_its_form() -> None:
    """The message is a post with a title, a headline with links, and the text of the issue."""
    request = sent("feishu")
    assert list(request) == ["msg_type", "content"]
    post = request["content"]["post"]["en_us"]
    assert post["title"] == "[ada/ship] issue opened: #1 It leaks by ada"
    headline, body = post["content"]
    assert headline[1] == {"tag": "a", "text": "ada/ship", "href": f"{ROOT}/ada/ship"}
    assert body == [{"tag": "text", "text": "It leaks"}]


def test_a_secret_signs_the_time() -> None:
    """The timestamp is signed as Feishu checks it, and no header but the content type is sent."""
    request = wire(hook("feishu", secret="sealed:demo"), "issues", sample("issues", "opened"))
    payload = json.loads(request.body)
    assert (payload["timestamp"], payload["sign"]) == ("1700000000", signature("demo", "1700000000"))
    # As `openssl dgst -sha256 -mac hmac -macopt key:"$(printf '1599360473\ndemo')" -binary` has it of nothing.
    assert signature("demo", "1599360473") == "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8="
    assert dict(request.headers) == {"Content-Type": "application/json"}


@given(text=hostile, which=st.sampled_from(EVERY))
def test_text_is_not_interpreted_as_markup(text: str, which: tuple[str, str]) -> None:
    """A message has only text and links to this service, and is smaller than the limit of Feishu."""
    request = wire(hook("feishu"), which[0], sample(*which, text))
    payload = json.loads(request.body)
    assert set(addresses(payload, lambda key: key == "tag")) <= {"text", "a"}
    assert all(url.startswith(ROOT) for url in addresses(payload, lambda key: key == "href"))
    assert len(request.body) < 20_000
