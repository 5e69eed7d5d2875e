"""Payments (`PaymentNotification`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import decimal, field, one_of_fields
from holdfast.backup.rules.repairs import clear, discard
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES"]

IDENTIFICATION: Final = "PaymentNotification.TransactionDetails.CoinTxoIdentification"

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "payment.amount.form",
        "The amount is not a decimal number.",
        "Write digits, with a dot among them where one is needed.",
        "spec 2, contract 5.9",
        Breach.CARE,
        decimal("PaymentNotification.amountCoin", "PaymentNotification.feeCoin"),
        repairs=(discard("The amount, which is no number, is left out."),),
    ),
    rule(
        "payment.details.set",
        "The details of the payment are empty.",
        "Leave the details out.",
        "spec 2, spec 7, contract 5.9",
        Breach.DEFAULTED,
        one_of_fields("PaymentNotification.TransactionDetails.payment"),
        importer="An importer treats it as a success about which nothing else is known.",
        repairs=(clear("The details, which say nothing, are left out."),),
    ),
    rule(
        "payment.identification.one",
        "The payment is neither received nor sent, or both.",
        "Write public keys of a received one, key images of a sent one.",
        "contract 5.9",
        Breach.CARE,
        fields=(
            "PaymentNotification.TransactionDetails.CoinTxoIdentification.publicKey",
            "PaymentNotification.TransactionDetails.CoinTxoIdentification.keyImages",
        ),
        repairs=(discard("What links the payment to the ledger is left out."),),
    ),
)

if not cython.compiled:
    PUBLIC_KEYS = field(f"{IDENTIFICATION}.publicKey")
    KEY_IMAGES = field(f"{IDENTIFICATION}.keyImages")
    IDENTIFICATION_ONE = number_of_rule("payment.identification.one")


def check_identification(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a payment is either received or sent."""
    if (context.value(depth, PUBLIC_KEYS) == 0) == (context.value(depth, KEY_IMAGES) == 0):
        context.report_field(IDENTIFICATION_ONE, depth, 0)


if not cython.compiled:
    CHECKS = {
        IDENTIFICATION: check_identification,
    }
