"""Exports: what an archive holds, in forms that other programs and other decades can read.

>>> import holdfast.backup as hb
>>> hb.export("chats.db", "pages", "html")
"""

from holdfast.backup.exports.choice import Choice, chosen
from holdfast.backup.exports.dispatcher import FORMS, Form, export, export_archive, export_backup, imported
from holdfast.backup.exports.folder import Written
from holdfast.backup.exports.job import Progress

__all__ = [
    "FORMS",
    "Choice",
    "Form",
    "Progress",
    "Written",
    "chosen",
    "export",
    "export_archive",
    "export_backup",
    "imported",
]
