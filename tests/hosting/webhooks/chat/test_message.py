"""The default method and headers of a chat message."""

from holdfast.hosting.webhooks.chat.message import ChatMessage


def test_a_message_is_posted_unless_it_says_otherwise() -> None:
    """The default method of a message is POST, without headers of its own."""
    chat_message = ChatMessage("https://chat.example", {"text": "hello"})
    assert (chat_message.method, dict(chat_message.headers)) == ("POST", {})
