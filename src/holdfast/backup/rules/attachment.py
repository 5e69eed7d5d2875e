"""Attachments (`MessageAttachment`), file pointers and where a file is stored."""

from typing import Final

import cython

from holdfast.backup.rules.checks import UUID_SIZE, field, filled, length, required
from holdfast.backup.rules.repairs import EMPTY, LOST_FILE, Fix, RepairAction, clear, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.rules.notes import NOTE_FLAG

__all__ = ["RULES"]

MARK_LOST: Final = Fix(
    RepairAction.PUT,
    "The file, which nobody can find, is said to be lost.",
    loses=True,
    values={"locatorInfo": EMPTY},
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "attachment.pointer.present",
        "The attachment does not say which file it is.",
        "Write the pointer, with an empty locator where the file is lost.",
        "contract 5.11",
        Breach.CARE,
        required("MessageAttachment.pointer"),
        repairs=(put("The file of the attachment is said to be lost.", pointer=LOST_FILE),),
    ),
    rule(
        "attachment.client-id.length",
        "The id of the attachment does not have 16 bytes.",
        "Write the 16 bytes of the UUID, or leave it out.",
        "contract 1.5, contract 5.11",
        Breach.FORMAT,
        length(UUID_SIZE, "MessageAttachment.clientUuid"),
        repairs=(discard("The id, which cannot be one, is left out."),),
    ),
    rule(
        "file.locator.present",
        "The attachment has no locator.",
        "Write the locator, an empty one where the file is lost.",
        "contract 5.11",
        Breach.CARE,
        required("FilePointer.locatorInfo"),
        importer="An importer treats the file as lost.",
        repairs=(put("The file is said to be lost.", locatorInfo=EMPTY),),
    ),
    rule(
        "file.incremental-mac.pair",
        "Of the incremental MAC and the size of its chunks only one is there.",
        "Write both, or neither.",
        "contract 5.11",
        Breach.CARE,
        fields=("FilePointer.incrementalMac", "FilePointer.incrementalMacChunkSize"),
        repairs=(clear("The half that is there is left out."),),
    ),
    rule(
        "file.incremental-mac.empty",
        "The incremental MAC is present but empty.",
        "Leave it out, and the size of its chunks.",
        "contract 5.11",
        Breach.CARE,
        filled("FilePointer.incrementalMac"),
        repairs=(clear("The empty MAC is left out."),),
    ),
    rule(
        "locator.transit.pair",
        "Of the key and the number of the CDN only one is there.",
        "Write both, or neither.",
        "spec 2, contract 5.11",
        Breach.CARE,
        fields=("FilePointer.LocatorInfo.transitCdnKey", "FilePointer.LocatorInfo.transitCdnNumber"),
        repairs=(discard("The half that is there is left out."),),
    ),
    rule(
        "locator.transit.empty",
        "The key of the CDN is present but empty.",
        "Leave it out, and the number of the CDN.",
        "contract 5.11",
        Breach.CARE,
        filled("FilePointer.LocatorInfo.transitCdnKey"),
        repairs=(clear("The empty key is left out."),),
    ),
    rule(
        "locator.transit.uploaded",
        "The file was uploaded, but it does not say where to.",
        "Leave the date out.",
        "spec 2, contract 5.11",
        Breach.CARE,
        fields=(
            "FilePointer.LocatorInfo.transitTierUploadTimestamp",
            "FilePointer.LocatorInfo.transitCdnKey",
            "FilePointer.LocatorInfo.transitCdnNumber",
        ),
        repairs=(clear("The date of an upload to nowhere is left out."),),
    ),
    rule(
        "locator.integrity.set",
        "The file has neither a hash nor a digest.",
        "Write the hash of a file that is there, the digest of one that is not, or an empty locator.",
        "contract 5.11",
        Breach.CARE,
        fields=("FilePointer.LocatorInfo.plaintextHash", "FilePointer.LocatorInfo.encryptedDigest"),
        importer="An importer treats the file as lost.",
        repairs=(MARK_LOST,),
    ),
    rule(
        "locator.integrity.empty",
        "The hash or digest of the file is present but empty.",
        "Write it, or an empty locator.",
        "contract 5.11",
        Breach.CARE,
        filled("FilePointer.LocatorInfo.plaintextHash", "FilePointer.LocatorInfo.encryptedDigest"),
        repairs=(MARK_LOST,),
    ),
    rule(
        "locator.digest.transit",
        "There is the digest of a file, but not where it can be downloaded.",
        "Write key and number of the CDN.",
        "contract 5.11",
        Breach.CARE,
        fields=(
            "FilePointer.LocatorInfo.encryptedDigest",
            "FilePointer.LocatorInfo.transitCdnKey",
            "FilePointer.LocatorInfo.transitCdnNumber",
        ),
        importer="An importer treats the file as lost.",
        repairs=(MARK_LOST,),
    ),
    rule(
        "locator.key.set",
        "The file has a hash, or can be downloaded, but has no key.",
        "Write the key.",
        "spec 2, contract 5.11",
        Breach.CARE,
        fields=("FilePointer.LocatorInfo.key",),
        importer="An importer cannot decrypt the file.",
        repairs=(MARK_LOST,),
    ),
    rule(
        "locator.local-key.hash",
        "There is a local copy of the file, but no hash of it.",
        "Write the hash, or leave the local key out.",
        "contract 5.11",
        Breach.CARE,
        fields=("FilePointer.LocatorInfo.localKey", "FilePointer.LocatorInfo.plaintextHash"),
        repairs=(discard("The key of the local copy is left out."),),
    ),
    rule(
        "locator.media-tier.hash",
        "The file is on the media tier, but there is no hash of it.",
        "Write the hash, or leave the number out.",
        "contract 5.11",
        Breach.CARE,
        fields=("FilePointer.LocatorInfo.mediaTierCdnNumber", "FilePointer.LocatorInfo.plaintextHash"),
        repairs=(discard("The number of the media tier is left out."),),
    ),
)

if not cython.compiled:
    FLAG = field("MessageAttachment.flag")
    MAC = field("FilePointer.incrementalMac")
    MAC_CHUNK = field("FilePointer.incrementalMacChunkSize")
    KEY = field("FilePointer.LocatorInfo.key")
    CDN_KEY = field("FilePointer.LocatorInfo.transitCdnKey")
    CDN_NUMBER = field("FilePointer.LocatorInfo.transitCdnNumber")
    UPLOADED = field("FilePointer.LocatorInfo.transitTierUploadTimestamp")
    MEDIA_CDN = field("FilePointer.LocatorInfo.mediaTierCdnNumber")
    LOCAL_KEY = field("FilePointer.LocatorInfo.localKey")
    HASH = field("FilePointer.LocatorInfo.plaintextHash")
    DIGEST = field("FilePointer.LocatorInfo.encryptedDigest")
    MAC_PAIR = number_of_rule("file.incremental-mac.pair")
    TRANSIT_PAIR = number_of_rule("locator.transit.pair")
    TRANSIT_UPLOADED = number_of_rule("locator.transit.uploaded")
    INTEGRITY_SET = number_of_rule("locator.integrity.set")
    DIGEST_TRANSIT = number_of_rule("locator.digest.transit")
    KEY_SET = number_of_rule("locator.key.set")
    LOCAL_KEY_HASH = number_of_rule("locator.local-key.hash")
    MEDIA_TIER_HASH = number_of_rule("locator.media-tier.hash")


def check_attachment(context: RuleContext, depth: cython.int) -> cython.void:
    """Store the flag of an attachment in a note of the enclosing message."""
    context.set_note(depth - 1, NOTE_FLAG, context.value(depth, FLAG) + 1)


def check_file(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a file pointer has both parts of the incremental MAC, or neither."""
    if context.has(depth, MAC) != context.has(depth, MAC_CHUNK):
        context.report_field(MAC_PAIR, depth, MAC if context.has(depth, MAC) else MAC_CHUNK)


def check_locator(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the locator of a file; an empty locator means that the file is lost."""
    transit: cython.bint
    hashed: cython.bint
    if not context.filled[depth]:
        return
    transit = context.has(depth, CDN_KEY) and context.has(depth, CDN_NUMBER)
    hashed = context.has(depth, HASH)
    if context.has(depth, CDN_KEY) != context.has(depth, CDN_NUMBER):
        context.report_field(TRANSIT_PAIR, depth, CDN_KEY if context.has(depth, CDN_KEY) else CDN_NUMBER)
        transit = True
    elif context.has(depth, UPLOADED) and not transit:
        context.report_field(TRANSIT_UPLOADED, depth, UPLOADED)
    if not hashed and not context.has(depth, DIGEST):
        context.report_field(INTEGRITY_SET, depth, 0)
        return
    if not hashed and not transit:
        context.report_field(DIGEST_TRANSIT, depth, DIGEST)
    elif not context.holds(depth, KEY):
        context.report_field(KEY_SET, depth, KEY)
    if not hashed and context.has(depth, LOCAL_KEY):
        context.report_field(LOCAL_KEY_HASH, depth, LOCAL_KEY)
    if not hashed and context.has(depth, MEDIA_CDN):
        context.report_field(MEDIA_TIER_HASH, depth, MEDIA_CDN)


if not cython.compiled:
    CHECKS = {
        "MessageAttachment": check_attachment,
        "FilePointer": check_file,
        "FilePointer.LocatorInfo": check_locator,
    }
