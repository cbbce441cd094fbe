"""The figures of the ACTesting paper, as printed: Table 1, Table 2, and the sentences its text makes of them.

Plain numbers; a test reckons the sentences anew from the tables, and the report shows the tables beside a run that is
judged by the paper's definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ORIG = "orig"


class PublishedQuality(NamedTuple):
    """A row of Table 1."""

    fid: float
    inception_score: float
    r_precision: float


TABLE_1: Mapping[str, Mapping[str, PublishedQuality]] = {
    "SD XL": {
        ORIG: PublishedQuality(24.27, 45.83, 0.9409),
        "ec": PublishedQuality(25.60, 41.46, 0.7718),
        "er-r": PublishedQuality(25.54, 41.80, 0.8695),
        "er-a": PublishedQuality(25.67, 38.65, 0.8705),
        "ss": PublishedQuality(25.63, 44.09, 0.9207),
    },
    "DeepAI": {
        ORIG: PublishedQuality(26.41, 44.38, 0.9301),
        "ec": PublishedQuality(28.03, 43.15, 0.7720),
        "er-r": PublishedQuality(28.36, 43.62, 0.8639),
        "er-a": PublishedQuality(28.60, 40.49, 0.8666),
        "ss": PublishedQuality(27.68, 43.47, 0.9035),
    },
    "Wan Xiang": {
        ORIG: PublishedQuality(26.16, 48.38, 0.9402),
        "ec": PublishedQuality(27.99, 44.16, 0.7856),
        "er-r": PublishedQuality(32.15, 45.14, 0.8806),
        "er-a": PublishedQuality(33.11, 41.94, 0.8624),
        "ss": PublishedQuality(28.53, 48.78, 0.9279),
    },
    "OpenJourney": {
        ORIG: PublishedQuality(30.36, 43.80, 0.9168),
        "ec": PublishedQuality(30.76, 41.14, 0.7233),
        "er-r": PublishedQuality(31.29, 42.52, 0.8299),
        "er-a": PublishedQuality(31.49, 40.29, 0.8191),
        "ss": PublishedQuality(30.97, 42.64, 0.8747),
    },
}
REAL_IMAGES = PublishedQuality(2.62, 46.00, 0.8354)

SETS = (ORIG, "er-r", "er-a", "ec", "ec+er-r", "ec+er-a")
"""The columns of Table 2."""


class Misses(NamedTuple):
    """A row of Table 2, in the order of SETS."""

    entities: tuple[float, ...]
    relations: tuple[float, ...]


TABLE_2: Mapping[str, Misses] = {
    "SD XL": Misses((0.1834, 0.3122, 0.3325, 0.3528, 0.3702, 0.4338), (0.3227, 0.2986, 0.3332, 0.3329, 0.3443, 0.3528)),
    "DeepAI": Misses(
        (0.2076, 0.3086, 0.3732, 0.3675, 0.3904, 0.4755), (0.3206, 0.3107, 0.3261, 0.3430, 0.3435, 0.3580)
    ),
    "Wan Xiang": Misses(
        (0.1844, 0.2733, 0.3271, 0.3449, 0.3598, 0.4293), (0.3360, 0.3164, 0.3334, 0.3433, 0.3506, 0.3541)
    ),
    "OpenJourney": Misses(
        (0.2364, 0.2876, 0.4099, 0.4011, 0.4273, 0.5210), (0.3395, 0.3301, 0.3463, 0.3464, 0.3520, 0.3699)
    ),
}
