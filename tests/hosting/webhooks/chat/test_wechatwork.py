"""Messages for WeCom."""

from hypothesis import given
from hypothesis import strategies as st

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, hostile, sent


def test_a_message_has_its_form() -> None:
    """The message is a news article with the URL of the issue."""
    article = {
        "title": "[ada/ship] issue opened: #1 It leaks by ada",
        "description": "It leaks",
        "url": f"{ROOT}/ada/ship/issues/1",
    }
    assert sent("wechatwork") == {"msgtype": "news", "news": {"articles": [article]}}


@given(text=hostile, which=st.sampled_from(EVERY))
def test_an_article_is_short_and_leads_to_us(text: str, which: tuple[str, str]) -> None:
    """An article is limited in bytes, as the service counts them, and has a URL of this service."""
    (article,) = sent("wechatwork", *which, text)["news"]["articles"]
    assert len(article["title"].encode()) <= 128
    assert len(article["description"].encode()) <= 512
    assert article["url"].startswith(ROOT)
