"""Walking every field of every frame, and writing frames as JSON, against protobuf on the same frames."""

from concurrent.futures import ThreadPoolExecutor

from google.protobuf.json_format import MessageToJson

from bench.harness import Figure, medians
from bench.streams import sample_stream
from holdfast import backup
from holdfast.backup.schema import Frame
from holdfast.backup.wire import to_json_lines
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.walk import walk

# protobuf's own JSON is slow, and each frame takes it as long as any other.
FEW = 20_000


def figures() -> list[Figure]:
    """Measure."""
    with backup.open(sample_stream()) as source:
        blocks = [block.data for block in source.blocks()]
    with backup.open(sample_stream()) as source:
        raws = [frame.raw for frame in source]
    few = [Frame.FromString(raw) for raw in raws[:: len(raws) // FEW]]

    def walk_all() -> None:
        for data in blocks:
            assert walk(data, 0, NO_CAP).fault == 0

    def walk_in_two_threads() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda data: walk(data, 0, NO_CAP), blocks))

    def write_json() -> None:
        for data in blocks:
            to_json_lines(data, 0, NO_CAP)

    def parse_all() -> None:
        for raw in raws:
            Frame.FromString(raw)

    def write_json_with_protobuf() -> None:
        for frame in few:
            MessageToJson(frame, indent=None, preserving_proto_field_name=True)

    taken = medians(
        {
            "parse": parse_all,
            "walk": walk_all,
            "two": walk_in_two_threads,
            "json": write_json,
            "protobuf": write_json_with_protobuf,
        }
    )
    count = len(raws)
    return [
        Figure("split and walk every field, frames a second", count / taken["walk"], "frames/s"),
        Figure("split and walk, times protobuf's bare parsing", taken["parse"] / taken["walk"], "x", least=1),
        Figure("split and walk in two threads, times one", taken["walk"] / taken["two"], "x"),
        Figure("to JSON Lines, frames a second", count / taken["json"], "frames/s"),
        Figure(
            "to JSON Lines, times protobuf's own JSON",
            (taken["protobuf"] / len(few)) / (taken["json"] / count),
            "x",
            least=25,
        ),
    ]
