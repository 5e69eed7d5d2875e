"""What a receiver is told besides the event: which one it is, what kind, and proof of who sends it.

The names of the headers are those that receivers written for Gogs, Gitea and GitHub look for.
"""

import hashlib
import hmac
from typing import Final
from urllib.parse import quote_plus

from holdfast.hosting.webhooks.webhook_request import WebhookRequest

__all__ = ["announcing", "grouped", "signed", "signed_request"]

HOUSES: Final = ("Gitea", "Gogs", "GitHub")
# What receivers know sub-events by.
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


def grouped(kind: str) -> str:
    """Return the name that receivers know a kind of event by."""
    return GROUPS.get(kind, kind)


def announcing(uuid: str, kind: str, target: str) -> dict[str, str]:
    """Return the headers that say which delivery it is and of what; `target` is whose hook it is."""
    headers = {f"X-{house}-Delivery": uuid for house in HOUSES}
    headers |= {f"X-{house}-Event": grouped(kind) for house in HOUSES}
    headers |= {f"X-{house}-Event-Type": kind for house in HOUSES}
    return headers | {f"X-{house}-Hook-Installation-Target-Type": target for house in ("Gitea", "GitHub")}


def signed(text: bytes, secret: str) -> dict[str, str]:
    """Return the headers that prove a text was sent by somebody who knows the secret."""
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
    """Make the request of an event for receivers that read it as it is.

    The signatures are over the JSON text, also where a form carries it.
    """
    text = payload.encode()
    if content_type == "form":
        body, spelled = f"payload={quote_plus(payload)}".encode(), "application/x-www-form-urlencoded"
    else:
        body, spelled = text, "application/json"
    headers = {"Content-Type": spelled} | announcing(uuid, kind, target) | signed(text, secret)
    if authorization:
        headers["Authorization"] = authorization
    return WebhookRequest("POST", url, headers, body)
