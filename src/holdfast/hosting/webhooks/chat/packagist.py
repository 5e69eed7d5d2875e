"""Requests to Packagist to update a package; only for pushes."""

from typing import Final

from holdfast.hosting.webhooks.chat.message import ChatMessage, MessageContext

__all__ = ["message"]

OF_CODE: Final = frozenset({"create", "delete"})


def message(context: MessageContext) -> ChatMessage | None:
    """Build an update request, by the package's page or else by its repository URL."""
    is_code = bool(context.payload.commits) if context.kind == "push" else context.kind in OF_CODE
    repository = context.payload.repository
    url = context.meta.get("package_url") or ("" if repository is None else repository.clone_url)
    if not is_code or not url:
        return None
    name, token = context.meta.get("username", ""), context.meta.get("api_token", "")
    headers = {"Authorization": f"Bearer {name}:{token}"} if name and token else {}
    return ChatMessage(context.url, {"repository": {"url": url}}, headers=headers)
