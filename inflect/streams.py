"""Random streams: each derived from a run's seed by name, so that one can vary while the others stand."""

import hashlib

import numpy as np


def stream(seed: int, name: str, *place: int) -> np.random.SeedSequence:
    """The stream `name` of `seed` (at a `place` in it: an epoch, an update). Streams are independent."""
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    return np.random.SeedSequence([seed, word, *place])
