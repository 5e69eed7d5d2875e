"""How the API answers: JSON with the headers its clients expect."""

from typing import ClassVar

import msgspec
from starlette.responses import Response

__all__ = ["JSON"]

encoder = msgspec.json.Encoder()


class JSON(Response):
    """A JSON body; the media type has no space in it, which is what existing clients compare with."""

    media_type = "application/json;charset=utf-8"
    HEADERS: ClassVar = {"Cache-Control": "max-age=0, private, must-revalidate"}

    def __init__(self, content: object, status: int = 200) -> None:
        super().__init__(content, status, headers=self.HEADERS)

    def render(self, content: object) -> bytes:
        """Write the body."""
        return encoder.encode(content)
