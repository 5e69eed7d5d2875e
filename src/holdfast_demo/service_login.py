"""The message that the service sends to the process that creates the demo content."""

from typing import Literal

import msgspec

__all__ = ["ServiceLogin"]


class ServiceLogin(msgspec.Struct, frozen=True, kw_only=True):
    """The address and credentials of the service, passed as one line of JSON to the demo process."""

    host: str
    port: int
    name: str
    password: str
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    def __repr__(self) -> str:
        return f"ServiceLogin(host={self.host!r}, port={self.port!r}, name={self.name!r})"
