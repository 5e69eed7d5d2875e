"""Helpers that create and list labels."""

import httpx

__all__ = ["LABELS", "ON_ISSUE", "create_label", "label_names"]

LABELS = "/repos/ada/ship/labels"
ON_ISSUE = "/repos/ada/ship/issues/1/labels"


def label_names(response: httpx.Response) -> list[str]:
    """Return the names in a list of labels."""
    assert response.status_code == 200, response.text
    return [label["name"] for label in response.json()]


def create_label(client: httpx.Client, name: str, path: str = LABELS, **body: object) -> int:
    """Create a label and return its id."""
    response = client.post(path, json={"name": name, "color": "f00", **body})
    assert response.status_code == 201, response.text
    number: int = response.json()["id"]
    return number
