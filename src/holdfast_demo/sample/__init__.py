"""Made-up chat histories that look real, for demonstrations, benchmarks and a first try.

`sample_records` yields the records of a backup of any size, `sample_media` the files its attachments refer to. The
people, groups and sentences are invented, and the phone numbers are ones set aside for fiction. The same arguments
give the same bytes on every machine.
"""

from holdfast_demo.sample.item_context import Edition
from holdfast_demo.sample.media import Media, sample_media
from holdfast_demo.sample.records import sample_records

__all__ = ["Edition", "Media", "sample_media", "sample_records"]
