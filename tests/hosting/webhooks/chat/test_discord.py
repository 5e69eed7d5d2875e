"""Messages for Discord."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.hosting.webhooks.chat.samples import EVERY, ROOT, hostile, sent


def test_a_message_has_its_form() -> None:
    """The message is one embed with the color of the event and the user as author, and mentions nobody."""
    request = sent("discord")
    assert request["allowed_mentions"] == {"parse": []}
    (embed,) = request["embeds"]
    assert embed["color"] == 0x2DA44E
    assert embed["author"] == {"name": "ada", "url": f"{ROOT}/ada", "icon_url": f"{ROOT}/avatars/2"}
    page = f"{ROOT}/ada/ship"
    first, quote = embed["description"].split("\n")
    assert first == (
        rf"\[[ada/ship]({page})\] issue opened\: [\#1 It leaks]({page}/issues/1) by [ada]({ROOT}/ada)"
    )
    assert quote == "> It leaks"


@given(text=hostile, which=st.sampled_from(EVERY))
def test_text_is_not_interpreted_as_markup(text: str, which: tuple[str, str]) -> None:
    """Markup in the text of users is escaped, and the lengths are within Discord's limits."""
    (embed,) = sent("discord", *which, text)["embeds"]
    shown = embed["description"]
    assert len(shown) <= 4096
    assert len(shown) + len(embed["author"]["name"]) <= 6000
    for line in shown.split("\n"):
        rest = re.sub(r"\\[^0-9A-Za-z\s]", "", line.removeprefix("> "))
        rest = re.sub(rf"\[([^\[\]]*)\]\({ROOT}[^()\s]*\)", r"\1", rest)
        assert not set(rest) & set("*_~`|<>[]()#@\\"), line
        assert "://" not in rest
