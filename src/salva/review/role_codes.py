"""Codes for texts and images on a sheet, so that raters do not see which belong together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

TEXT, IMAGE = "text", "image"


def role_code(case_id: str, side: str, role: str) -> str:
    """The code of a role; side: TEXT or IMAGE."""
    return f"{side}-{hashlib.sha256(f'{case_id}/{side}/{role}'.encode()).hexdigest()[:6]}"


def plain_role(case_id: str, side: str, cell: str, roles: Iterable[str]) -> str:
    """The role that a cell is the code of; anything else as it stands, since others' sheets have plain roles."""
    return next((role for role in roles if role_code(case_id, side, role) == cell.strip()), cell.strip())
