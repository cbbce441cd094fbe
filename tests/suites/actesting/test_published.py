"""The paper's tables, typed anew line by line as they are printed there, against the figures that are shown."""

from __future__ import annotations

from salva.suites.actesting.published import ORIG, REAL_IMAGES, SETS, TABLE_1, TABLE_2, PublishedQuality

# Gu, "Automated Testing Method for Text-to-Image Software" (ACTesting).
# Table 1: I-FID, I-IS, RP for the seeds, EC, ER_R, ER_A and SS.
PRINTED_1 = {
    "SD XL": "24.27 45.83 94.09% 25.60 41.46 77.18% 25.54 41.80 86.95% 25.67 38.65 87.05% 25.63 44.09 92.07%",
    "DeepAI": "26.41 44.38 93.01% 28.03 43.15 77.20% 28.36 43.62 86.39% 28.60 40.49 86.66% 27.68 43.47 90.35%",
    "Wan Xiang": "26.16 48.38 94.02% 27.99 44.16 78.56% 32.15 45.14 88.06% 33.11 41.94 86.24% 28.53 48.78 92.79%",
    "OpenJourney": "30.36 43.80 91.68% 30.76 41.14 72.33% 31.29 42.52 82.99% 31.49 40.29 81.91% 30.97 42.64 87.47%",
}
# Table 2: Miss_e, then Miss_r, for the seeds, ER_R, ER_A, EC, EC+ER_R and EC+ER_A.
PRINTED_2 = {
    "SD XL": "0.1834 0.3122 0.3325 0.3528 0.3702 0.4338 0.3227 0.2986 0.3332 0.3329 0.3443 0.3528",
    "DeepAI": "0.2076 0.3086 0.3732 0.3675 0.3904 0.4755 0.3206 0.3107 0.3261 0.3430 0.3435 0.3580",
    "Wan Xiang": "0.1844 0.2733 0.3271 0.3449 0.3598 0.4293 0.3360 0.3164 0.3334 0.3433 0.3506 0.3541",
    "OpenJourney": "0.2364 0.2876 0.4099 0.4011 0.4273 0.5210 0.3395 0.3301 0.3463 0.3464 0.3520 0.3699",
}


def in_print(quality: PublishedQuality) -> str:
    return f"{quality.fid:.2f} {quality.inception_score:.2f} {quality.r_precision:.2%}"


def test_the_figures_are_those_that_are_printed() -> None:
    operators = (ORIG, "ec", "er-r", "er-a", "ss")
    assert {name: " ".join(in_print(rows[o]) for o in operators) for name, rows in TABLE_1.items()} == PRINTED_1
    assert in_print(REAL_IMAGES) == "2.62 46.00 83.54%"
    assert SETS == (ORIG, "er-r", "er-a", "ec", "ec+er-r", "ec+er-a")
    misses = {name: (*row.entities, *row.relations) for name, row in TABLE_2.items()}
    assert {name: " ".join(f"{miss:.4f}" for miss in row) for name, row in misses.items()} == PRINTED_2
