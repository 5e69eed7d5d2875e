"""Labels for the tests about them."""

import httpx

__all__ = ["LABELS", "ON_ISSUE", "made", "names"]

LABELS = "/repos/ada/ship/labels"
ON_ISSUE = "/repos/ada/ship/issues/1/labels"


def names(answer: httpx.Response) -> list[str]:
    """Return the names in a list of labels."""
    assert answer.status_code == 200, answer.text
    return [label["name"] for label in answer.json()]


def made(client: httpx.Client, name: str, path: str = LABELS, **body: object) -> int:
    """Make a label and return its id."""
    answer = client.post(path, json={"name": name, "color": "f00", **body})
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["id"]
    return number
