"""The assignment problem: the assignment problem, for a handful of things.

Takes a table of costs, one row a thing and one column a place; gives the pairs. The shortest augmenting path for each
row (Jonker and Volgenant's way), which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

_FAR = float("inf")


def assign(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The pairs (row, column) of an assignment of least cost; as many as the shorter side has."""
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        turned = assign([list(column) for column in zip(*costs, strict=True)])
        return sorted((row, column) for column, row in turned)
    n_rows, n_columns = len(costs), len(costs[0])
    row_price, column_price = [0.0] * (n_rows + 1), [0.0] * (n_columns + 1)
    # Column 0 is nobody's: each path starts there with its new row.
    row_of, before = [0] * (n_columns + 1), [0] * (n_columns + 1)
    for row in range(1, n_rows + 1):
        row_of[0], column = row, 0
        least, used = [_FAR] * (n_columns + 1), [False] * (n_columns + 1)
        while row_of[column]:
            used[column] = True
            here, step, nearest = row_of[column], _FAR, 0
            for other in range(1, n_columns + 1):
                if not used[other]:
                    cost = costs[here - 1][other - 1] - row_price[here] - column_price[other]
                    if cost < least[other]:
                        least[other], before[other] = cost, column
                    if least[other] < step:
                        step, nearest = least[other], other
            for other in range(n_columns + 1):
                if used[other]:
                    row_price[row_of[other]] += step
                    column_price[other] -= step
                else:
                    least[other] -= step
            column = nearest
        while column:
            row_of[column] = row_of[before[column]]
            column = before[column]
    return sorted((row_of[column] - 1, column - 1) for column in range(1, n_columns + 1) if row_of[column])
