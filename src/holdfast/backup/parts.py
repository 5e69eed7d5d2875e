"""Names of the parts of a backup outside of the plain stream."""

from enum import StrEnum

__all__ = ["Part"]


class Part(StrEnum):
    """The parts around the plain stream of a backup that can be missing or damaged."""

    LENGTH = "length"
    TOKENS = "tokens"
    MAC = "mac"
    PADDING = "padding"
    COMPRESSION = "compression"
    CHECKSUM = "checksum"
    MAIN = "main"
    METADATA = "metadata"
    METADATA_MISSING = "metadata missing"
