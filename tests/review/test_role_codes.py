"""Codes of roles: they come back to their roles, and say nothing of who belongs to whom."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from salva.review.role_codes import IMAGE, TEXT, plain_role, role_code

ROLES = ("a", "pv", "pi")


@given(st.text(), st.sampled_from(ROLES), st.sampled_from((TEXT, IMAGE)))
def test_a_code_comes_back_to_its_role(case_id: str, role: str, side: str) -> None:
    assert plain_role(case_id, side, f" {role_code(case_id, side, role)} ", ROLES) == role


def test_a_text_and_its_picture_share_no_code_nor_do_two_cases() -> None:
    codes = {role_code(case_id, side, role) for case_id in "xy" for side in (TEXT, IMAGE) for role in ROLES}
    assert len(codes) == 12
    assert plain_role("x", IMAGE, role_code("x", TEXT, "a"), ROLES) not in ROLES, "a text is no picture"


def test_plain_roles_of_others_sheets_stay() -> None:
    assert plain_role("x", TEXT, " T_a ", ROLES) == "T_a"
