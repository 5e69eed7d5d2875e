"""Parsing of the payload fields that chat messages use: missing and unknown fields."""

from holdfast.hosting.webhooks.chat.payload_fields import PayloadFields, read


def test_every_field_may_be_missing() -> None:
    """A payload without any field can be read, and unknown fields are skipped."""
    assert read("{}") == PayloadFields()
    issue = '{"number":3,"assignees":null}'
    payload = read(f'{{"action":"opened","new":[1],"issue":{issue},"changes":{{"title":{{"from":"a"}}}}}}')
    assert payload.issue is not None
    assert (payload.action, payload.issue.number, payload.issue.assignees) == ("opened", 3, None)
    assert payload.changes is not None
    assert payload.changes.title is not None
    assert payload.changes.title.from_ == "a"
