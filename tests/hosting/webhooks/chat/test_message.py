"""What a service's module returns."""

from holdfast.hosting.webhooks.chat.message import Message


def test_a_message_is_posted_unless_it_says_otherwise() -> None:
    """With no headers of its own."""
    made = Message("https://chat.example", {"text": "hello"})
    assert (made.method, dict(made.headers)) == ("POST", {})
