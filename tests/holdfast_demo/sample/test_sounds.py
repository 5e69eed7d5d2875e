"""Voice messages of a sample."""

import io
import wave

from holdfast_demo.sample.sounds import wav


def test_a_recording_is_as_long_as_its_notes() -> None:
    """The standard library reads the file and finds the samples that were written."""
    with wave.open(io.BytesIO(wav([0, 3, 6], 501))) as sound:
        assert (sound.getnchannels(), sound.getsampwidth(), sound.getframerate()) == (1, 1, 8000)
        assert sound.getnframes() == 3 * 501
        assert len(set(sound.readframes(501))) > 10
