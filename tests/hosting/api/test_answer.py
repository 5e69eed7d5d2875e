"""The shape of an answer."""

from holdfast.hosting.api.answer import JSON


def test_answers_are_json_that_no_cache_may_keep() -> None:
    """Media type and cache header are what existing clients expect."""
    answer = JSON({"a": [1]}, 201)
    assert answer.body == b'{"a":[1]}'
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json;charset=utf-8"
    assert answer.headers["cache-control"] == "max-age=0, private, must-revalidate"
