"""The public interface of validation: findings as an iterator, or all of them with a verdict."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from types import MappingProxyType

from holdfast.backup.backup_reader import Backup, BackupSource
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.public import public
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.rule import Edition, Severity
from holdfast.backup.rules.validator import (
    EditionName,
    ProfileName,
    PurposeName,
    ValidationRun,
    start_validation,
)

__all__ = ["Validation", "validate"]


@public
class Validation:
    """The validation of a backup: iterate to get its findings in file order, as they are found.

    Nothing is read before the first finding or a property is requested. Iteration stores no findings, and each
    iteration reads the backup again. `findings` and `by_rule` store all of them. `ok`, `counts`, `edition` and
    `frames` read the backup to its end, once.
    """

    def __init__(
        self,
        source: BackupSource,
        key: KeyMaterial | str | None = None,
        *,
        profile: ProfileName = "strict",
        edition: EditionName = "auto",
        purpose: PurposeName = "remote",
        media: bool | None = False,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._source = source
        self._key = key
        self._profile = profile
        self._edition = edition
        self._purpose = purpose
        self._media = media
        self._threads = threads
        self._progress = progress
        self._completed: ValidationRun | None = None

    def __iter__(self) -> Iterator[Finding]:
        with self._start() as run:
            yield from run
        self._completed = run

    def __repr__(self) -> str:
        if self._completed is None:
            return "Validation(not read yet)"
        counts = "".join(f", {severity.value}s={count}" for severity, count in self.counts.items())
        return f"Validation(ok={self.ok}{counts})"

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in file order."""
        return tuple(self)

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return self._run().valid

    @property
    def by_rule(self) -> Mapping[str, tuple[Finding, ...]]:
        """The findings by the id of the rule that is broken, the first broken one first."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            found.setdefault(finding.rule.id, []).append(finding)
        return {rule: tuple(findings) for rule, findings in found.items()}

    @property
    def counts(self) -> Mapping[Severity, int]:
        """The number of findings of each severity that occurs."""
        counts: Counter[Severity] = self._run().counts
        return MappingProxyType({severity: counts[severity] for severity in Severity if counts[severity]})

    @property
    def edition(self) -> Edition | None:
        """The edition of the format that was applied; None if nothing could be read."""
        return self._run().edition

    @property
    def frames(self) -> int:
        """The number of frames, without the header."""
        return self._run().frames

    def _run(self) -> ValidationRun:
        """Return a run that has read the backup to its end."""
        if self._completed is None:
            for _ in self:
                pass
        assert self._completed is not None  # noqa: S101  # an iteration that ends has completed
        return self._completed

    def _start(self) -> AbstractContextManager[ValidationRun]:
        if isinstance(self._source, Backup):
            return nullcontext(
                ValidationRun(
                    self._source,
                    profile=self._profile,
                    edition=self._edition,
                    purpose=self._purpose,
                    media=self._media,
                    threads=self._threads,
                )
            )
        return start_validation(
            self._source,
            self._key,
            profile=self._profile,
            edition=self._edition,
            purpose=self._purpose,
            media=self._media,
            threads=self._threads,
            progress=self._progress,
        )


@public
def validate(
    source: BackupSource,
    key: KeyMaterial | str | None = None,
    *,
    profile: ProfileName = "strict",
    edition: EditionName = "auto",
    purpose: PurposeName = "remote",
    media: bool | None = False,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Validation:
    """Validate a backup, in any form that `open` accepts, and return its findings, which are read lazily.

    The profile `strict` is for exporters, `import` for importers. The edition `auto` is detected from the content.
    The purpose is not in the file: a remote backup, a device transfer or a takeout. For a local folder or an
    export, the attachment files must exist; with `media` they are also decrypted, with None they are not checked.
    Faults of the file, its encryption and its compression are findings too, unless `source` is an opened backup.

    >>> validation = hb.validate("chats.binproto")
    >>> validation.ok, validation.frames
    (True, 255)
    >>> validation.by_rule
    {}
    """
    return Validation(
        source,
        key,
        profile=profile,
        edition=edition,
        purpose=purpose,
        media=media,
        threads=threads,
        progress=progress,
    )
