"""The numbers the paper prints in its Tables 2 and 3."""

from __future__ import annotations

TABLE_2 = """
SANA 1.5|0.83 0.36 0.23 0.40 0.38 0.75 0.29 0.17 0.33 0.32
Janus-Pro-7B|0.80 0.29 0.21 0.32 0.39 0.69 0.21 0.11 0.25 0.24
Show-o2|0.77 0.32 0.20 0.36 0.35 0.66 0.25 0.14 0.31 0.28
Z-image|0.82 0.38 0.21 0.42 0.34 0.75 0.33 0.16 0.38 0.28
Lumina-DiMOO|0.76 0.33 0.20 0.38 0.35 0.70 0.29 0.17 0.35 0.32
BAGEL|0.80 0.29 0.17 0.32 0.32 0.73 0.29 0.15 0.34 0.28
BAGEL-CoT|0.88 0.43 0.29 0.46 0.44 0.82 0.41 0.26 0.45 0.41
OmniGen2|0.76 0.32 0.19 0.37 0.34 0.70 0.29 0.18 0.35 0.33
FLUX.2-dev|0.81 0.42 0.26 0.47 0.40 0.83 0.48 0.28 0.53 0.40
Qwen-Image|0.84 0.35 0.24 0.38 0.41 0.80 0.37 0.23 0.41 0.38
Nano Banana|0.93 0.64 0.55 0.66 0.69 0.88 0.64 0.52 0.68 0.65
Nano Banana Pro|0.95 0.67 0.58 0.69 0.71 0.93 0.76 0.67 0.79 0.77
GPT-Image-1.5|0.92 0.66 0.49 0.69 0.60 0.91 0.73 0.55 0.77 0.64
Seedream 5.0|0.91 0.63 0.50 0.66 0.63 0.89 0.72 0.61 0.76 0.72
"""
TABLE_3 = """
SANA 1.5|Diff|0.31 0.30 0.94 0.83 0.36 0.37 0.01
Janus-Pro-7B|Unif|0.19 0.07 0.97 0.83 0.29 0.30 0.01
Show-o2|Unif|0.39 0.37 0.92 0.80 0.32 0.37 0.05
Z-image|Diff|0.61 0.53 0.98 0.89 0.38 0.43 0.05
Lumina-DiMOO|Unif|0.38 0.34 0.97 0.82 0.33 0.35 0.02
BAGEL|Unif|0.29 0.22 0.98 0.83 0.29 0.31 0.02
BAGEL-CoT|Unif|0.38 0.32 0.97 0.90 0.43 0.44 0.01
OmniGen2|Unif|0.33 0.25 0.96 0.81 0.32 0.35 0.03
FLUX.2-dev|Diff|0.53 0.52 0.99 0.90 0.42 0.51 0.09
Qwen-Image|Diff|0.40 0.40 0.97 0.86 0.35 0.37 0.02
"""


def rows(table: str) -> list[tuple[list[str], list[float]]]:
    """Names and numbers of every row."""
    parted = [line.rpartition("|") for line in table.strip().splitlines()]
    return [(names.split("|"), [float(number) for number in numbers.split()]) for names, _, numbers in parted]
