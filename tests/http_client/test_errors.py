"""Errors of the HTTP client: one tree, so that a caller can handle all of them or one."""

import ipaddress

import pytest

from holdfast.errors import HoldfastError
from holdfast.http_client import errors
from holdfast.http_client.errors import AddressNotAllowed, HttpClientError, InvalidRequest, InvalidUrl


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_caught_as_an_error_of_the_client(name: str) -> None:
    """And as one of Holdfast, which commands print without a traceback."""
    kind = getattr(errors, name)
    assert issubclass(kind, HttpClientError)
    assert issubclass(kind, HoldfastError)


def test_an_invalid_url_is_an_invalid_request() -> None:
    """No other error is: an invalid request fails again however often it is sent."""
    kinds = {getattr(errors, name) for name in errors.__all__}
    assert {kind for kind in kinds if issubclass(kind, InvalidRequest)} == {InvalidRequest, InvalidUrl}


def test_a_denied_address_is_kept_out_of_the_message() -> None:
    """The addresses are data for the caller; what is printed names the host only."""
    addresses = [ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("::1")]
    error = AddressNotAllowed("inside.example.org", tuple(addresses))
    assert str(error) == "inside.example.org may not be connected to"
    assert (error.host, error.addresses) == ("inside.example.org", addresses)


def test_the_docstring_shows_every_error() -> None:
    """The tree at the top of the module is the documentation of the errors."""
    assert errors.__doc__ is not None
    assert all(name in errors.__doc__ for name in errors.__all__)
