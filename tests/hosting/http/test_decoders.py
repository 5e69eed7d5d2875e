"""Decoding of JSON bodies, forms, queries and times."""

import json
from typing import Annotated, ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.api.ref_names import RefName
from holdfast.hosting.http.decoders import Required, SentFile, decode_body, decode_query, decode_time
from holdfast.hosting.http.errors import ApiError


class Inner(msgspec.Struct, frozen=True):
    """An entry of a list."""

    path: Annotated[str, Meta(max_length=9), Required] = ""
    blob: Annotated[str, Meta(title="BlobSHA", max_length=3)] = ""


class Option(msgspec.Struct, frozen=True):
    """One field of each kind."""

    name: Annotated[str, Meta(max_length=5), Required] = ""
    branch: Annotated[str, Meta(title="BranchName"), RefName] = ""
    count: int = 0
    is_on: bool = False
    note: str | UnsetType = UNSET
    labels: list[str] = []
    files: list[Inner] = []


class WithFiles(msgspec.Struct, frozen=True):
    """A field for text, and one for files."""

    name: str = ""
    sent: list[SentFile] = []


def decode_error(content: bytes, content_type: str | None = "application/json", method: str = "POST") -> str:
    """Decode an invalid body, and return the message of the error."""
    with pytest.raises(ApiError) as excinfo:
        decode_body(Option, content, content_type, method, {})
    assert excinfo.value.status == 422
    return excinfo.value.message


PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\na\r\n'


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"name=a&" + b"b=1&" * 1000, "application/x-www-form-urlencoded"),
        (b"name=a&" + b"&" * 1000, "application/x-www-form-urlencoded"),
        (PART % (b"name", b"") * 1001 + b"--x--\r\n", "multipart/form-data; boundary=x"),
        (PART % (b"sent", b'; filename="f"') * 1001 + b"--x--\r\n", "multipart/form-data; boundary=x"),
        (PART % (b"sent", b'; filename=""') * 1001 + b"--x--\r\n", "multipart/form-data; boundary=x"),
    ],
    ids=["fields", "empty fields", "parts", "files", "empty files"],
)
def test_a_form_with_very_many_fields_is_refused(content: bytes, content_type: str) -> None:
    """A form with more than 1000 fields is refused, since reading a field costs far more than sending it."""
    with pytest.raises(ApiError) as excinfo:
        decode_body(WithFiles, content, content_type, "POST", {})
    assert (excinfo.value.status, excinfo.value.message) == (400, "a form has at most 1000 fields")


def test_a_form_with_many_fields_is_read() -> None:
    """A form may have a thousand fields or files."""
    content = b"name=a&" + b"&".join([b"b=1"] * 999)
    assert decode_body(WithFiles, content, "application/x-www-form-urlencoded", "POST", {}).name == "a"
    parts = PART % (b"name", b"") + PART % (b"sent", b'; filename="f"') * 999 + b"--x--\r\n"
    assert len(decode_body(WithFiles, parts, "multipart/form-data; boundary=x", "POST", {}).sent) == 999


def test_null_is_absent_and_unknown_keys_are_ignored() -> None:
    """A null value means the default, because clients send every key they know."""
    body = b'{"name": "a", "note": null, "unknown": {"deep": [1]}, "count": null}'
    assert decode_body(Option, body, "application/json; charset=utf-8", "POST", {}) == Option("a")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "[Name]: Required"),
        ({"name": ""}, "[Name]: Required"),
        ({"name": "abcdef"}, "[Name]: MaxSize"),
        ({"name": "a", "branch": "a..b"}, "[BranchName]: GitRefName"),
        ({"name": "a", "branch": "a b"}, "[BranchName]: GitRefName"),
        ({"name": "a", "branch": "@"}, "[BranchName]: GitRefName"),
        ({"name": "a", "files": [{}]}, "[Path]: Required"),
        ({"name": "a", "files": [{"path": "a/very/long/one"}]}, "[Path]: MaxSize"),
        ({"name": "a", "files": [{"path": "a"}, {"path": "b", "blob": "long"}]}, "[BlobSHA]: MaxSize"),
        ({"name": "a", "files": [{"path": 1}]}, "[Path]: Expected `str`, got `int`"),
        ({"name": "a", "files": [1]}, "[Files]: Expected `object`, got `int`"),
        ({"name": 1}, "[Name]: Expected `str`, got `int`"),
        ({"name": "a", "count": "1"}, "[Count]: Expected `int`, got `str`"),
        ({"name": "a", "is_on": 1}, "[IsOn]: Expected `bool`, got `int`"),
        ({"name": "a", "labels": [1]}, "[Labels]: Expected `str`, got `int`"),
        ([], "[]: the body must be a JSON object"),
        ("text", "[]: the body must be a JSON object"),
    ],
)
def test_the_first_wrong_field_is_named(body: object, message: str) -> None:
    """The message names the first invalid field in the format that clients know."""
    assert decode_error(json.dumps(body).encode()) == message


def test_keys_are_matched_without_regard_to_case() -> None:
    """Nested keys and the aliases of a struct match in any case too; the last of several equal keys counts."""

    class Wrapped(msgspec.Struct, frozen=True):
        key_aliases: ClassVar = {"InnerField": "inner"}
        inner: Inner | None = None

    body = {"NAME": "n", "Count": 2, "files": [{"PATH": "a", "Blob": "b"}, {"path": "c"}], "Is_On": True}
    decoded = decode_body(Option, json.dumps(body).encode(), "application/json", "POST", {})
    assert decoded == Option("n", count=2, is_on=True, files=[Inner("a", "b"), Inner("c")])
    for key in ("Inner", "innerfield", "inner"):
        content = json.dumps({key: {"Path": "p"}}).encode()
        assert decode_body(Wrapped, content, "application/json", "POST", {}).inner == Inner("p")
    assert decode_error(b'{"Name": "n", "COUNT": "x"}') == decode_error(b'{"name": "n", "count": "x"}')
    # The last one counts, as for a key that comes twice.
    twice = b'{"name": "a", "NAME": "b"}'
    assert decode_body(Option, twice, "application/json", "POST", {}).name == "b"


def test_invalid_json_is_refused_with_a_message() -> None:
    """Truncated, binary and deeply nested JSON is refused."""
    assert decode_error(b'{"name": ').startswith("[]: ")
    assert decode_error(b"\xff\xfe").startswith("[]: ")
    assert decode_error(b"[" * 100_000).startswith("[]: ")


def test_a_body_needs_a_type_that_is_known() -> None:
    """POST requires a known Content-Type; DELETE without one is read as JSON or from the query."""
    assert decode_error(b"{}", None) == "[]: Empty Content-Type"
    assert decode_error(b"{}", "text/xml") == "[]: Unsupported Content-Type"
    assert decode_body(Option, b'{"name":"a"}', None, "DELETE", {}) == Option("a")
    assert decode_body(Option, b"", None, "DELETE", {"name": "a", "count": "3"}) == Option("a", count=3)


def test_forms_have_names_of_their_own() -> None:
    """Forms use the names of the fields instead of the JSON keys, and a list is a repeated field."""
    form = b"name=a&branch_name=x%2Fy&is_on=true&labels=p&labels=q&count=7&other=1"
    expected = Option("a", "x/y", 7, True, labels=["p", "q"])
    assert decode_body(Option, form, "application/x-www-form-urlencoded", "POST", {}) == expected
    parts = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\na\r\n--x--\r\n'
    assert decode_body(Option, parts, "multipart/form-data; boundary=x", "POST", {}) == Option("a")
    assert "[]" in decode_error(b"--", "multipart/form-data")


def test_files_come_with_a_form_where_some_are_wanted() -> None:
    """Only a field for files gets files, with their names; text in it and files in other fields are ignored."""
    parts = (
        b'--x\r\nContent-Disposition: form-data; name="sent"; filename="a\\b\xc3\xa9"\r\n\r\n\x00\xff\r\n\r\n'
        b'--x\r\nContent-Disposition: form-data; name="sent"; filename="b"\r\n\r\n\r\n'
        b'--x\r\nContent-Disposition: form-data; name="sent"; filename=""\r\n\r\n\r\n'
        b'--x\r\nContent-Disposition: form-data; name="name"; filename="c"\r\n\r\nnobody\r\n'
        b'--x\r\nContent-Disposition: form-data; name="sent"\r\n\r\nwords\r\n--x--\r\n'
    )
    created = decode_body(WithFiles, parts, "multipart/form-data; boundary=x", "POST", {})
    assert created == WithFiles("", [SentFile("a\\bé", b"\x00\xff\r\n"), SentFile("b", b"")])
    assert decode_body(WithFiles, b"sent=words", "application/x-www-form-urlencoded", "POST", {}) == WithFiles()


def test_an_empty_parameter_of_a_query_counts_as_not_given() -> None:
    """An empty parameter means the default, because the forms of browsers send them."""
    assert decode_query(Option, [("name", "a"), ("count", ""), ("is_on", "1")]) == Option("a", is_on=True)
    with pytest.raises(ApiError, match="Count"):
        decode_query(Option, [("name", "a"), ("count", "many")])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*Option.__struct_fields__, "x"]), inner),
)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_input_is_decoded_or_refused(content: bytes) -> None:
    """Any bytes are decoded or refused with 422, and no other exception is raised."""
    try:
        created = decode_body(Option, content, "application/json", "POST", {})
    except ApiError as refusal:
        assert refusal.status == 422  # noqa: PT017  # only some of the inputs raise
    else:
        assert 0 < len(created.name) <= 5


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1),
        ("2026-08-22T12:00:00+02:00", 1787392800),
        ("2026-08-22T10:00:00 02:00", 1787385600),
        ("2026-08-22", 1787356800),
        ("0001-01-01T00:00:00Z", -62135596800),
    ],
)
def test_times_are_read(text: str, seconds: int) -> None:
    """A time may have a space where a plus sign was decoded, or no time of day and offset."""
    assert decode_time(text, "Since") == seconds


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "1787392800x"])
def test_invalid_times_are_refused(text: str) -> None:
    """The error of an invalid time names the field."""
    with pytest.raises(ApiError, match="Since"):
        decode_time(text, "Since")
