"""Payment notifications."""

from holdfast.backup.schema.backup_pb2 import ChatItem, PaymentNotification
from holdfast_demo.sample.item_context import Fill, ItemContext

__all__ = ["FAILURES", "STATUSES", "bare_payment", "failed_payment", "payment"]

Details = PaymentNotification.TransactionDetails

STATUSES = Details.Transaction.Status.values()
FAILURES = Details.FailedTransaction.FailureReason.values()


def payment(status: Details.Transaction.Status.ValueType) -> Fill:
    """Return a function that adds a payment with a transaction status."""

    def fill(item: ChatItem, context: ItemContext) -> None:
        bare_payment(item, context)
        transaction = item.paymentNotification.transactionDetails.transaction
        transaction.status = status
        coins = transaction.coinIdentification
        keys = coins.keyImages if context.author.id == context.sample.me.id else coins.publicKey
        keys.append(context.rng.randbytes(32))
        transaction.timestamp = context.sent
        transaction.blockIndex = context.rng.below(1_000_000)
        transaction.blockTimestamp = context.arrived
        transaction.transaction = context.rng.randbytes(64)
        transaction.receipt = context.rng.randbytes(48)

    return fill


def failed_payment(reason: Details.FailedTransaction.FailureReason.ValueType) -> Fill:
    """Return a function that adds a failed payment."""

    def fill(item: ChatItem, context: ItemContext) -> None:
        bare_payment(item, context)
        item.paymentNotification.transactionDetails.failedTransaction.reason = reason

    return fill


def bare_payment(item: ChatItem, context: ItemContext) -> None:
    """Add a payment without transaction details."""
    item.paymentNotification.amountCoin = f"{context.rng.below(90)}.{context.rng.below(100):02}"
    item.paymentNotification.feeCoin = "0.0004"
    item.paymentNotification.note = context.rng.pick(("Train ticket", "Cake", "für die Noten", "para el autobús"))
