"""pytest plugin: the fixture `salva`, with which a test states what a text-to-image model must generate.

Loaded by every pytest run where salva is installed, so it imports nothing of salva's until a test uses the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from salva.scene_tests import SceneTestResult, SceneTests

_FOLDER = "salva"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The flags that choose the model and the observers."""
    group = parser.getgroup("salva", "salva: text-to-image models under test")
    group.addoption("--salva-model", default="", metavar="M", help="The generator; default: pocket.")
    group.addoption("--salva-detector", default="", metavar="D", help="The detector; default: the model's.")
    group.addoption("--salva-reader", default="", metavar="R", help="The reader of text in images, or none.")
    group.addoption(
        "--salva-set", action="append", default=[], metavar="KEY=VALUE", help="An option of a component; repeatable."
    )
    group.addoption(
        "--salva-plugin",
        action="append",
        default=[],
        metavar="FILE:CLASS",
        help="A component from a file; repeatable.",
    )
    group.addoption("--salva-out", default="", metavar="FOLDER", help="Where runs are kept; default: pytest's cache.")


@pytest.fixture(scope="session")
def salva(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salva]:
    """Generates what a test states and fails the test where the images are wrong."""
    from salva.errors import SalvaError

    config = request.config
    if config.getoption("--salva-out"):
        folder = config.rootpath / config.getoption("--salva-out")
    elif (cache := getattr(config, "cache", None)) is not None:
        folder = cache.mkdir(_FOLDER)
    else:
        folder = tmp_path_factory.mktemp(_FOLDER)
    try:
        tests = _open(config, folder)
    except SalvaError as error:
        pytest.fail(str(error), pytrace=False)
    yield Salva(tests)
    tests.close()


class Salva:
    """What a test states about the model; a statement that does not hold fails the test."""

    def __init__(self, tests: SceneTests) -> None:
        self._tests = tests

    def holds(self, scene: str, law: str, *, repeats: int = 1, at_least: int | None = None) -> SceneTestResult:
        """The images of a scene, and of every other wording that the law proves, are right.

        scene: a formula or a sentence. at_least: in how many of the repeats; by default in all of them.
        """
        __tracebackhide__ = True
        return self._try(scene, law=law, repeats=repeats, at_least=at_least)

    def shows(
        self, prompt: str, formula: str = "", *, repeats: int = 1, at_least: int | None = None
    ) -> SceneTestResult:
        """The image of the prompt shows what the formula says; without one, what the prompt says."""
        __tracebackhide__ = True
        return self._try(formula or prompt, prompt=prompt, repeats=repeats, at_least=at_least)

    def _try(
        self, scene: str, *, repeats: int, at_least: int | None, law: str = "", prompt: str = ""
    ) -> SceneTestResult:
        from salva.core.verdict import Outcome
        from salva.errors import FormulaError, MissingRoleError, SalvaError

        __tracebackhide__ = True
        problem = ""
        try:
            tried = self._tests.try_scene(scene, law=law, prompt=prompt, repeats=repeats, at_least=at_least)
        except MissingRoleError as error:
            problem = str(error.with_example(f"--salva-{error.role} {error.name}"))
        except FormulaError as error:
            how = "\nState what its image must show: salva.shows(prompt, formula)" if scene == prompt else ""
            problem = f"{error}{how}"
        except SalvaError as error:
            problem = str(error)
        if problem:
            # Outside of the handler: the traceback inside salva is of no use to the author of a test.
            _fail(problem)
        if tried.outcome is Outcome.UNDECIDED:
            pytest.skip(_plain(tried.text))
        if tried.outcome is not Outcome.PASS:
            _fail(tried.text)
        return tried


def _open(config: pytest.Config, folder: Path) -> SceneTests:
    from salva.core.run_spec import split_settings
    from salva.registry import add_loose_plugin
    from salva.scene_tests import SceneComponents, SceneTests

    for source in config.getoption("--salva-plugin"):
        add_loose_plugin(source)
    parts = SceneComponents(
        model=config.getoption("--salva-model"),
        detector=config.getoption("--salva-detector"),
        reader=config.getoption("--salva-reader"),
        settings=split_settings(config.getoption("--salva-set")),
    )
    return SceneTests(folder, parts)


def _fail(told: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(_plain(told))


def _plain(text: str) -> str:
    from salva.core.printable import printable
    from salva.core.secrets import redact

    return printable(redact(text))
