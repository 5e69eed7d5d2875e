"""What messages take from a payload."""

from holdfast.hosting.webhooks.chat.payload_fields import PayloadFields, read


def test_every_field_may_be_missing() -> None:
    """And what nobody knows is passed over."""
    assert read("{}") == PayloadFields()
    issue = '{"number":3,"assignees":null}'
    told = read(f'{{"action":"opened","new":[1],"issue":{issue},"changes":{{"title":{{"from":"a"}}}}}}')
    assert told.issue is not None
    assert (told.action, told.issue.number, told.issue.assignees) == ("opened", 3, None)
    assert told.changes is not None
    assert told.changes.title is not None
    assert told.changes.title.from_ == "a"
