"""What chat services are sent of an event, each in the form it documents."""

from holdfast.hosting.webhooks.chat.conversion import message_of

__all__ = ["message_of"]
