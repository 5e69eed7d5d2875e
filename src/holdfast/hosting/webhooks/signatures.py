"""Delivery headers and HMAC signatures of webhook requests.

The header names are those of Gogs, Gitea and GitHub.
"""

import hashlib
import hmac
from typing import Final
from urllib.parse import quote_plus

from holdfast.hosting.webhooks.webhook_request import WebhookRequest

__all__ = ["delivery_headers", "event_header", "signature_headers", "signed_request"]

# Event names that receivers know, for sub-events.
GROUPS: Final = {
    "issue_assign": "issues",
    "issue_label": "issues",
    "issue_milestone": "issues",
    "pull_request_assign": "pull_request",
    "pull_request_label": "pull_request",
    "pull_request_milestone": "pull_request",
    "pull_request_sync": "pull_request",
    "pull_request_review_request": "pull_request",
    "pull_request_comment": "issue_comment",
    "pull_request_review_approved": "pull_request_approved",
    "pull_request_review_rejected": "pull_request_rejected",
    "pull_request_review_comment": "pull_request_comment",
}


def event_header(kind: str) -> str:
    """Return the event name that receivers know."""
    return GROUPS.get(kind, kind)


def delivery_headers(uuid: str, kind: str, target: str) -> dict[str, str]:
    """Return the headers with the delivery id and event; `target` is the kind of the webhook's owner."""
    event = event_header(kind)
    return {
        "X-Gitea-Delivery": uuid,
        "X-Gogs-Delivery": uuid,
        "X-GitHub-Delivery": uuid,
        "X-Gitea-Event": event,
        "X-Gogs-Event": event,
        "X-GitHub-Event": event,
        "X-Gitea-Event-Type": kind,
        "X-Gogs-Event-Type": kind,
        "X-GitHub-Event-Type": kind,
        "X-Gitea-Hook-Installation-Target-Type": target,
        "X-GitHub-Hook-Installation-Target-Type": target,
    }


def signature_headers(text: bytes, secret: str) -> dict[str, str]:
    """Return the HMAC signature headers of a text."""
    sha1 = sha256 = ""
    if secret:
        key = secret.encode()
        sha1 = hmac.digest(key, text, hashlib.sha1).hex()
        sha256 = hmac.digest(key, text, hashlib.sha256).hex()
    return {
        "X-Gitea-Signature": sha256,
        "X-Gogs-Signature": sha256,
        "X-Hub-Signature": f"sha1={sha1}",
        "X-Hub-Signature-256": f"sha256={sha256}",
    }


def signed_request(
    *,
    url: str,
    content_type: str,
    payload: str,
    uuid: str,
    kind: str,
    target: str,
    secret: str = "",
    authorization: str = "",
) -> WebhookRequest:
    """Build the request with an event's payload.

    The signatures are computed over the JSON text, also if it is sent as a form.
    """
    text = payload.encode()
    if content_type == "form":
        body, spelled = f"payload={quote_plus(payload)}".encode(), "application/x-www-form-urlencoded"
    else:
        body, spelled = text, "application/json"
    headers = {"Content-Type": spelled} | delivery_headers(uuid, kind, target) | signature_headers(text, secret)
    if authorization:
        headers["Authorization"] = authorization
    return WebhookRequest("POST", url, headers, body)
