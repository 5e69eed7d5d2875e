"""Generated chat histories that look real, for demonstrations, tests and benchmarks.

`sample_records` yields the records of a backup of any size, `sample_media` the files of its attachments. People,
groups and texts are fictional, and the phone numbers are reserved for fiction. The same arguments give the same
bytes on every machine.
"""

from holdfast_demo.sample.item_context import Edition
from holdfast_demo.sample.media import Media, sample_media
from holdfast_demo.sample.records import sample_records

__all__ = ["Edition", "Media", "sample_media", "sample_records"]
