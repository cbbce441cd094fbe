"""The seal of a run: made with a private key, and broken by every edit however well its digests are mended."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from in_process import salva
from runs.forging import change, edit_run_file, mend

from salva.core.review import Label, Review
from salva.core.run_file import FORMAT
from salva.engine.progress import SilentProgress
from salva.runs.pipeline import execute
from salva.store.reviews import append_reviews
from salva.testing.specs import fake_spec

PEM = serialization.Encoding.PEM
PKCS8, OPENSSH = serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.OpenSSH
PLAIN = serialization.NoEncryption()
REVIEW = Review(case_id="fake-1", model="fake-model", repeat=0, reviewer="ada", label=Label.PASS)


def write_keys(folder: Path, name: str, *, is_ssh: bool = False) -> tuple[str, str]:
    """A new pair of keys: the paths of the private and of the public one."""
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(PEM, OPENSSH if is_ssh else PKCS8, PLAIN))
    encoding = serialization.Encoding.OpenSSH if is_ssh else PEM
    form = serialization.PublicFormat.OpenSSH if is_ssh else serialization.PublicFormat.SubjectPublicKeyInfo
    public.write_bytes(key.public_key().public_bytes(encoding, form))
    return str(private), str(public)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write_keys(tmp_path_factory.mktemp("keys"), "own")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory, keys: tuple[str, str]) -> Path:
    from salva.store.seal import sign
    from salva.store.sqlite import open_run

    directory = tmp_path_factory.mktemp("sealed") / "run"
    execute(fake_spec(4), directory, SilentProgress())
    append_reviews(directory, [REVIEW])
    with open_run(directory) as store:
        sign(store, Path(keys[0]))
    return directory


@pytest.fixture
def run(sealed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sealed, tmp_path / "run"))


def problems(run: Path, public: str) -> list[str]:
    from salva.store.seal import seal_problems
    from salva.store.sqlite import open_run

    with open_run(run) as store:
        return seal_problems(store, Path(public))


def test_a_sealed_run_has_no_problems_and_labels_may_be_added(run: Path, keys: tuple[str, str]) -> None:
    assert problems(run, keys[1]) == []
    append_reviews(run, [Review(case_id="fake-2", model="fake-model", repeat=0, reviewer="bob", label=Label.FAIL)])
    assert problems(run, keys[1]) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE verdicts SET outcome = 'FAIL'",
        "UPDATE observations SET observation = observation || ' '",
        "DELETE FROM verdicts",
        "UPDATE components SET label = 'better' WHERE role = 'model'",
        "UPDATE images SET digest = 'x'",
        "UPDATE renders SET text = 'x'",
        "INSERT INTO meta VALUES ('gate', '{}', '')",
        "UPDATE verdicts SET reason = CAST('x' AS BLOB)",
        "INSERT INTO tickets VALUES ('x', 'x', 'https://elsewhere.example/x', NULL, '{}')",
        "UPDATE renders SET attempts = 99",
        "UPDATE observations SET attempts = 99",
    ],
)
def test_mended_digests_do_not_mend_the_seal(run: Path, keys: tuple[str, str], statement: str) -> None:
    change(run, statement)
    mend(run)
    assert problems(run, keys[1]) == ["rows of the run differ from what was sealed"]


@pytest.mark.parametrize("is_blank", [True, False])
def test_where_the_images_are_may_change_and_no_other_text_of_run_json(
    run: Path, keys: tuple[str, str], is_blank: bool
) -> None:
    line = '  "images": "file:///mnt/elsewhere",\n'
    before = f'  "format": {FORMAT},\n'
    edit_run_file(run, before, before + line)
    assert problems(run, keys[1]) == []
    edit_run_file(run, line, f"\n{line}" if is_blank else line + line)
    assert problems(run, keys[1]) == ["run_file of the run differ from what was sealed"]


def test_a_run_json_that_is_gone_breaks_the_seal(run: Path, keys: tuple[str, str]) -> None:
    (run / "run.json").unlink()
    assert problems(run, keys[1]) == ["run_file of the run differ from what was sealed"]


def test_run_json_and_labels_are_sealed(run: Path, keys: tuple[str, str]) -> None:
    edit_run_file(run, '"size": ', '"seed": 5, "size": ')
    (run / "review.db").unlink()
    append_reviews(run, [Review(case_id="fake-1", model="fake-model", repeat=0, reviewer="eve", label=Label.FAIL)])
    assert problems(run, keys[1]) == [
        f"{name} of the run differ from what was sealed" for name in ("reviews", "run_file")
    ]


def test_another_key_and_an_edited_seal_are_found(run: Path, tmp_path: Path, keys: tuple[str, str]) -> None:
    _, other = write_keys(tmp_path, "other", is_ssh=True)
    assert len(problems(run, other)) == 1
    text = (run / "seal.json").read_text(encoding="utf-8")
    for spoilt in (
        text.replace('"n_reviews": 1', '"n_reviews": 0'),
        "{",
        "[]",
        text.replace('"signature": "', '"x": "'),
    ):
        (run / "seal.json").write_text(spoilt, encoding="utf-8")
        assert len(problems(run, keys[1])) == 1
    (run / "seal.json").unlink()
    assert len(problems(run, keys[1])) == 1


def test_the_command_seals_and_checks(tmp_path: Path) -> None:
    small = ("prompts", "--model", "painter", "--judge", "scene", "--reader", "none", "--size", "2")
    run = tmp_path / "run"
    assert salva("run", *small, "--set", "run.preflight=off", "--out", str(run)).returncode in (0, 3)
    private, public = write_keys(tmp_path, "ssh", is_ssh=True)
    assert salva("verify", str(run), "--key", public).returncode == 2
    assert salva("verify", str(run), "--sign", private).returncode == 0
    assert salva("verify", str(run), "--key", public).returncode == 0
    assert salva("verify", str(run), "--sign", private, "--key", public).codes == ["options-conflict"]
    change(run, "DELETE FROM meta WHERE key = 'is_whole'")
    assert salva("verify", str(run), "--sign", private).codes == ["seal-unfinished"]


@pytest.mark.parametrize("is_private", [True, False])
def test_other_keys_are_refused(run: Path, tmp_path: Path, is_private: bool) -> None:
    (tmp_path / "text.pem").write_text("no key")
    other = generate_private_key(SECP256R1())
    (tmp_path / "other.pem").write_bytes(
        other.private_bytes(PEM, PKCS8, PLAIN)
        if is_private
        else other.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    flag = "--sign" if is_private else "--key"
    for name in ("text.pem", "other.pem"):
        done = salva("verify", str(run), flag, str(tmp_path / name))
        assert (done.returncode, done.codes) == (2, ["key-unusable"])
