"""Messages for chat services, each in its documented format."""

from holdfast.hosting.webhooks.chat.conversion import message_of

__all__ = ["message_of"]
