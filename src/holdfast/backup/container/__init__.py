"""Encrypted containers: key derivation, decryption, compression, attachment files.

keys       material -> find_layout -> KeyMaterial.message_keys
reading    file -> decrypt -> gunzip -> plain frame stream
writing    plain frame stream -> GzipWriter -> encrypt -> file
"""

from holdfast.backup.container.attachments import (
    AttachmentKey,
    LocalKey,
    content_path,
    decrypt_attachment,
    encrypt_attachment,
    media_name,
    open_attachment,
)
from holdfast.backup.container.cipher import ContainerLayout, decrypt, encrypt, find_layout
from holdfast.backup.container.gunzip import GunzipLimits, GzipWriter, gunzip
from holdfast.backup.container.keys import (
    BackupId,
    BackupKey,
    EntropyPool,
    ForwardSecrecyToken,
    MediaRootKey,
    MessageKeys,
)
from holdfast.backup.container.manifest import read_manifest, write_manifest
from holdfast.backup.container.material import KeyMaterial, parse_aci
from holdfast.backup.container.metadata import ForwardSecrecy, LocalMetadata, TokenPair
from holdfast.backup.container.padding import padded

__all__ = [
    "AttachmentKey",
    "BackupId",
    "BackupKey",
    "ContainerLayout",
    "EntropyPool",
    "ForwardSecrecy",
    "ForwardSecrecyToken",
    "GunzipLimits",
    "GzipWriter",
    "KeyMaterial",
    "LocalKey",
    "LocalMetadata",
    "MediaRootKey",
    "MessageKeys",
    "TokenPair",
    "content_path",
    "decrypt",
    "decrypt_attachment",
    "encrypt",
    "encrypt_attachment",
    "find_layout",
    "gunzip",
    "media_name",
    "open_attachment",
    "padded",
    "parse_aci",
    "read_manifest",
    "write_manifest",
]
