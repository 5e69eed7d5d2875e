"""Money sent and received."""

from holdfast.backup.schema.backup_pb2 import ChatItem, PaymentNotification
from holdfast_demo.sample.item_context import Fill, Moment

__all__ = ["FAILURES", "STATUSES", "bare_payment", "failed_payment", "payment"]

Details = PaymentNotification.TransactionDetails

STATUSES = Details.Transaction.Status.values()
FAILURES = Details.FailedTransaction.FailureReason.values()


def payment(status: Details.Transaction.Status.ValueType) -> Fill:
    """Pay for something; the money is on its way or has arrived."""

    def fill(item: ChatItem, at: Moment) -> None:
        bare_payment(item, at)
        transaction = item.paymentNotification.transactionDetails.transaction
        transaction.status = status
        ledger = transaction.coinIdentification
        keys = ledger.keyImages if at.author.id == at.stage.me.id else ledger.publicKey
        keys.append(at.dice.randbytes(32))
        transaction.timestamp = at.sent
        transaction.blockIndex = at.dice.below(1_000_000)
        transaction.blockTimestamp = at.arrived
        transaction.transaction = at.dice.randbytes(64)
        transaction.receipt = at.dice.randbytes(48)

    return fill


def failed_payment(reason: Details.FailedTransaction.FailureReason.ValueType) -> Fill:
    """Try to pay for something."""

    def fill(item: ChatItem, at: Moment) -> None:
        bare_payment(item, at)
        item.paymentNotification.transactionDetails.failedTransaction.reason = reason

    return fill


def bare_payment(item: ChatItem, at: Moment) -> None:
    """Pay for something, with nothing known but the amount."""
    item.paymentNotification.amountCoin = f"{at.dice.below(90)}.{at.dice.below(100):02}"
    item.paymentNotification.feeCoin = "0.0004"
    item.paymentNotification.note = at.dice.pick(("Train ticket", "Cake", "für die Noten", "para el autobús"))
