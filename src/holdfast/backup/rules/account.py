"""The account (`AccountData`) and its settings."""

from typing import Final

import cython

from holdfast.backup.rules.checks import (
    UUID_SIZE,
    field,
    filled,
    known,
    length,
    one_of_fields,
    required,
    username,
)
from holdfast.backup.rules.contact import FEWEST_DIGITS, LONGEST_NICKNAME
from holdfast.backup.rules.repairs import DROP_RECORD, Fix, RepairAction, clear, discard, put
from holdfast.backup.rules.rule import CURRENT, Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES"]

SETTINGS = "AccountData.AccountSettings"

# The tiers of remote backups, as the service numbers them.
FREE_TIER: Final = 200
PAID_TIER: Final = 201

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "account.once",
        "There is a second account.",
        "Write one account, as the first frame.",
        "spec 1 rule 1, contract 5.3",
        Breach.FORMAT,
        fields=("Frame.account",),
        importer="An importer stops here, or uses one of the two.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "account.first",
        "The account is not the first frame.",
        "Write the account before everything else.",
        "spec 1 rule 1",
        Breach.FORMAT,
        fields=("Frame.account",),
        importer="Some importers stop; others accept the account at any position.",
        repairs=(Fix(RepairAction.MOVE_FIRST, "The account is moved to the beginning."),),
    ),
    rule(
        "account.present",
        "There is no account.",
        "Write the account as the first frame.",
        "spec 1 rule 1, contract 5.3",
        Breach.FORMAT,
        fields=("Frame.account",),
        importer="An importer rejects the backup.",
    ),
    rule(
        "account.profile-key.length",
        "The profile key does not have 32 bytes.",
        "Write the account's profile key.",
        "contract 5.4",
        Breach.FORMAT,
        length(32, "AccountData.profileKey"),
    ),
    rule(
        "account.username.form",
        "The username is not a nickname, a dot and two digits or more.",
        "Write the name as the server gave it, or leave it out.",
        "contract 5.4",
        Breach.CARE,
        username("AccountData.username", longest=LONGEST_NICKNAME, digits=FEWEST_DIGITS),
        repairs=(discard("The username, which cannot be one, is left out."),),
    ),
    rule(
        "account.username-link.username",
        "There is a link to a username, but no username.",
        "Leave the link out, or write the name.",
        "contract 5.4",
        Breach.CARE,
        fields=("AccountData.usernameLink", "AccountData.username"),
        repairs=(discard("The link, which leads to no name, is left out."),),
    ),
    rule(
        "account.username-link.entropy.length",
        "The entropy of the username's link does not have 32 bytes.",
        "Write the 32 bytes it was made with.",
        "spec 2, spec 8, contract 5.4",
        Breach.FORMAT,
        length(32, "AccountData.UsernameLink.entropy"),
        repairs=(discard("The link, which cannot be opened, is left out.", up="usernameLink"),),
    ),
    rule(
        "account.username-link.server-id.length",
        "The server's id of the username's link does not have 16 bytes.",
        "Write the id the server gave.",
        "spec 2, spec 8, contract 5.4",
        Breach.FORMAT,
        length(UUID_SIZE, "AccountData.UsernameLink.serverId"),
        repairs=(discard("The link, which cannot be opened, is left out.", up="usernameLink"),),
    ),
    rule(
        "account.username-link.color.known",
        "The colour of the username's link is unknown.",
        "Write the colour the user chose.",
        "spec 2",
        Breach.DEFAULTED,
        known("AccountData.UsernameLink.color"),
        importer="An importer shows it blue.",
        only_import=True,
    ),
    rule(
        "account.settings.present",
        "The account has no settings.",
        "Write the settings, even if all of them are at their defaults.",
        "contract 5.4",
        Breach.CARE,
        required("AccountData.accountSettings"),
        importer="An importer uses the defaults.",
    ),
    rule(
        "account.donation.id.length",
        "The id of the donation does not have 32 bytes.",
        "Write the subscriber's id, or leave the subscription out.",
        "contract 5.4",
        Breach.FORMAT,
        length(32, "AccountData.SubscriberData.subscriberId"),
        repairs=(discard("The subscription is left out.", up="donationSubscriberData"),),
    ),
    rule(
        "account.donation.currency",
        "The donation has no currency.",
        "Write the code of the currency, or leave the subscription out.",
        "contract 5.4",
        Breach.CARE,
        required("AccountData.SubscriberData.currencyCode"),
        repairs=(discard("The subscription is left out.", up="donationSubscriberData"),),
    ),
    rule(
        "account.subscription.id.length",
        "The id of the backup subscription does not have 32 bytes.",
        "Write the subscriber's id, or leave the subscription out.",
        "contract 5.4",
        Breach.FORMAT,
        length(32, "AccountData.IAPSubscriberData.subscriberId"),
        repairs=(discard("The subscription is left out.", up="backupsSubscriberData"),),
    ),
    rule(
        "account.subscription.purchase",
        "The backup subscription does not say how it was bought.",
        "Write the purchase, or leave the subscription out.",
        "spec 2, spec 7, contract 5.4",
        Breach.SKIPPED,
        one_of_fields("AccountData.IAPSubscriberData.iapSubscriptionId"),
        importer="An importer ignores the subscription.",
        repairs=(clear("The subscription, which importers ignore, is left out."),),
    ),
    rule(
        "account.subscription.token",
        "The token of the purchase is empty.",
        "Write the token, or leave the subscription out.",
        "contract 5.4",
        Breach.CARE,
        filled("AccountData.IAPSubscriberData.purchaseToken"),
        repairs=(discard("The subscription is left out.", up="backupsSubscriberData"),),
    ),
    rule(
        "account.navigation-bar.known",
        "The size of the navigation bar is unknown.",
        "Leave the field out, or write a known value.",
        "contract 1.1, contract 5.4",
        Breach.DEFAULTED,
        known("AccountData.PlatformASpecificSettings.navigationBarSize"),
        importer="An importer uses the normal size.",
        editions=CURRENT,
        repairs=(put("The size is the normal one.", navigationBarSize=1),),
    ),
    rule(
        "settings.number-sharing.known",
        "The setting for who can see the phone number has an unknown value.",
        "Write whether everybody or nobody may.",
        "spec 2, contract 5.4",
        Breach.DEFAULTED,
        known(f"{SETTINGS}.phoneNumberSharingMode"),
        importer="An importer treats it as nobody.",
        repairs=(put("Nobody may see the number.", phoneNumberSharingMode=2),),
    ),
    rule(
        "settings.media-quality.known",
        "The quality of sent media is unknown.",
        "Write standard or high.",
        "spec 2, contract 5.4",
        Breach.DEFAULTED,
        known(f"{SETTINGS}.defaultSentMediaQuality"),
        importer="An importer uses the standard quality.",
        strict_editions=CURRENT,
        repairs=(put("The quality is the standard one.", defaultSentMediaQuality=1),),
    ),
    rule(
        "settings.app-theme.known",
        "The theme of the app is unknown.",
        "Write whether it is light, dark, or that of the system.",
        "contract 1.1, contract 5.4",
        Breach.DEFAULTED,
        known(f"{SETTINGS}.appTheme"),
        importer="An importer uses the system's theme.",
        editions=CURRENT,
        repairs=(put("The theme is that of the system.", appTheme=1),),
    ),
    rule(
        "settings.call-data.known",
        "The setting for using less data for calls has an unknown value.",
        "Write when they should.",
        "contract 1.1, contract 5.4",
        Breach.DEFAULTED,
        known(f"{SETTINGS}.callsUseLessDataSetting"),
        importer="An importer treats it as never.",
        editions=CURRENT,
        repairs=(put("Calls never use less data.", callsUseLessDataSetting=1),),
    ),
    rule(
        "settings.auto-download.known",
        "The setting for media auto-download has an unknown value.",
        "Write when they are.",
        "spec 2, contract 5.4",
        Breach.DEFAULTED,
        known(
            "AccountData.AutoDownloadSettings.images",
            "AccountData.AutoDownloadSettings.audio",
            "AccountData.AutoDownloadSettings.video",
            "AccountData.AutoDownloadSettings.documents",
        ),
        importer="An importer treats it as never.",
        strict_editions=CURRENT,
        repairs=(put("These media are never downloaded by themselves.", images=1, audio=1, video=1, documents=1),),
    ),
    rule(
        "settings.backup-tier.known",
        "The backup tier is neither the free nor the paid one.",
        "Write 200 or 201, or leave it out where backups are off.",
        "contract 5.4",
        Breach.CARE,
        fields=("AccountData.AccountSettings.backupTier",),
        repairs=(discard("The tier, which does not exist, is left out."),),
    ),
    rule(
        "settings.optimize-storage.tier",
        "Storage is optimized without the paid backup tier.",
        "Turn it off, or write the tier.",
        "contract 5.4",
        Breach.CARE,
        fields=("AccountData.AccountSettings.optimizeOnDeviceStorage", "AccountData.AccountSettings.backupTier"),
        repairs=(clear("Optimizing storage, which needs the paid tier, is off."),),
    ),
)

if not cython.compiled:
    USERNAME = field("AccountData.username")
    USERNAME_LINK = field("AccountData.usernameLink")
    TIER = field("AccountData.AccountSettings.backupTier")
    OPTIMIZE = field("AccountData.AccountSettings.optimizeOnDeviceStorage")
    _FREE = FREE_TIER
    _PAID = PAID_TIER
    LINK_USERNAME = number_of_rule("account.username-link.username")
    TIER_KNOWN = number_of_rule("settings.backup-tier.known")
    OPTIMIZE_TIER = number_of_rule("settings.optimize-storage.tier")


def check_account(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that an account with a username link has a username."""
    if context.has(depth, USERNAME_LINK) and not context.has(depth, USERNAME):
        context.report_field(LINK_USERNAME, depth, USERNAME_LINK)


def check_settings(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the tier of backups, and what needs the paid one."""
    tier: cython.ulonglong = context.value(depth, TIER)
    if context.has(depth, TIER) and tier not in (_FREE, _PAID):
        context.report_field(TIER_KNOWN, depth, TIER)
    elif context.holds(depth, OPTIMIZE) and tier != _PAID:
        context.report_field(OPTIMIZE_TIER, depth, OPTIMIZE)


if not cython.compiled:
    CHECKS = {
        "AccountData": check_account,
        "AccountData.AccountSettings": check_settings,
    }
