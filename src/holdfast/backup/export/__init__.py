"""Exports: what an archive holds, in forms that other programs and other decades can read.

>>> from pathlib import Path
>>> from holdfast.backup import archive, export
>>> with archive.open("chats.db") as opened:
...     export.export(opened, Path("pages"), "html")
"""

from holdfast.backup.export.choice import Choice, chosen
from holdfast.backup.export.exporting import FORMS, Form, export, from_backup, imported
from holdfast.backup.export.folder import Written
from holdfast.backup.export.job import Progress

__all__ = ["FORMS", "Choice", "Form", "Progress", "Written", "chosen", "export", "from_backup", "imported"]
