"""The exceptions of the HTTP client and their base class."""

import ipaddress

import pytest

from holdfast.errors import HoldfastError
from holdfast.http_client import errors
from holdfast.http_client.errors import AddressNotAllowed, HttpClientError, InvalidRequest, InvalidUrl


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_caught_as_an_error_of_the_client(name: str) -> None:
    """Each error is also a `HoldfastError`, which commands print without a traceback."""
    kind = getattr(errors, name)
    assert issubclass(kind, HttpClientError)
    assert issubclass(kind, HoldfastError)


def test_an_invalid_url_is_an_invalid_request() -> None:
    """Only `InvalidUrl` is an `InvalidRequest`, which fails again whenever it is repeated."""
    kinds = {getattr(errors, name) for name in errors.__all__}
    assert {kind for kind in kinds if issubclass(kind, InvalidRequest)} == {InvalidRequest, InvalidUrl}


def test_a_denied_address_is_kept_out_of_the_message() -> None:
    """The message has the host only, and the addresses are an attribute for the caller."""
    addresses = [ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("::1")]
    error = AddressNotAllowed("inside.example.org", tuple(addresses))
    assert str(error) == "inside.example.org may not be connected to"
    assert (error.host, error.addresses) == ("inside.example.org", addresses)


def test_the_docstring_shows_every_error() -> None:
    """The docstring of the module, which documents the errors as a tree, has the name of each error."""
    assert errors.__doc__ is not None
    assert all(name in errors.__doc__ for name in errors.__all__)
