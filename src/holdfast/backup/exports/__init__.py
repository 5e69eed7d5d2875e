"""Exports: what an archive holds, in forms that other programs and other decades can read.

>>> from pathlib import Path
>>> from holdfast.backup import archives, exports
>>> with archives.open("chats.db") as opened:
...     exports.export(opened, Path("pages"), "html")
"""

from holdfast.backup.exports.choice import Choice, chosen
from holdfast.backup.exports.exporting import FORMS, Form, export, from_backup, imported
from holdfast.backup.exports.folder import Written
from holdfast.backup.exports.job import Progress

__all__ = ["FORMS", "Choice", "Form", "Progress", "Written", "chosen", "export", "from_backup", "imported"]
