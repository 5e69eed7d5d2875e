"""Helpers that create webhooks and deliveries."""

import json

import httpx
from sqlalchemy import select, update

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import deliveries, hooks

__all__ = ["CONFIG", "OWNERS", "create_hook", "deliver_tests", "hook_ids", "with_answer"]

CONFIG = {"url": "https://ci.example/h", "content_type": "json"}
# The paths of webhooks of each kind of owner, and a user who may change them.
OWNERS = {
    "/orgs/guild/hooks": "ada",
    "/repos/guild/ship/hooks": "ada",
    "/user/hooks": "ada",
    "/admin/hooks": "admin",
}


def create_hook(client: httpx.Client, path: str, **body: object) -> dict[str, object]:
    """Create a hook and return it."""
    response = client.post(path, json={"type": "gitea", "config": CONFIG, **body})
    assert response.status_code == 201, response.text
    return dict(response.json())


def deliver_tests(client: httpx.Client, path: str, number: object, count: int = 1) -> list[int]:
    """Queue test deliveries of a hook, and return their ids, oldest first."""
    for _ in range(count):
        response = client.post(f"{path}/{number}/tests", params={"repository": "guild/ship"})
        assert response.status_code == 204, response.text
    found_deliveries = client.get(f"{path}/{number}/deliveries", params={"limit": count}).json()
    return [item["id"] for item in reversed(found_deliveries)]


def with_answer(database: Database, number: int, **columns: object) -> None:
    """Store the response of a receiver, as the deliverer does."""
    answered = {
        "state": "delivered",
        "tries": 1,
        "ended_at": 1_700_000_000,
        "method": "POST",
        "url": "https://ci.example/h",
        "headers": json.dumps({"Authorization": "Bearer hunter2", "X-Gitea-Event": "push"}),
        "status": 200,
        "answer_headers": json.dumps({"Content-Type": "text/plain"}),
        "answer": b"thank you",
        "milliseconds": 12,
    }
    with database.write() as connection:
        connection.execute(update(deliveries).where(deliveries.c.id == number).values({**answered, **columns}))


def hook_ids(database: Database) -> list[int]:
    """Return the ids of all webhooks in the database, of every owner."""
    with database.read() as connection:
        return list(connection.execute(select(hooks.c.id).order_by(hooks.c.id)).scalars())
