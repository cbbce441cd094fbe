"""All that run.json says: what was asked, who answered, where, how the run is judged now, what it was made of.

What is not as salva writes it is a ValueError that names the place; whoever knows the file says which one it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from salva.core.asked import Asked, Choice
from salva.core.fingerprint import Json
from salva.core.typed_json import as_object, entry

FORMAT = 11
"""The format of run.json and salva.db; a run of another one is refused."""
_REJUDGED = ("observers", "checks", "headline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Who answered to a name: everything about a component that can change an outcome."""

    role: str
    identity: Mapping[str, Json]
    component_id: str = ""
    """For a model: the key its pictures are stored under."""
    label: str = ""
    """What an observer is called, where that is not its name as typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How `salva rejudge` last judged the run, or whom an import leads with."""

    asked: Asked
    """What the run would be asked, to be judged so."""
    leading: Mapping[str, str] = field(default_factory=dict)
    """By check, the observers whose verdicts come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile:
    """A file that a run was made of."""

    name: str
    sha256: str
    kept: str = ""
    """Its name inside the run, where it is kept."""

    def to_json(self) -> dict[str, Json]:
        """As run.json lists it."""
        return {"name": self.name, "sha256": self.sha256, **({"kept": self.kept} if self.kept else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a run that others made came from."""

    form: str
    files: tuple[ImportedFile, ...]
    n_problems: int = 0
    about: Mapping[str, Json] = field(default_factory=dict)
    """What the format itself wants to know again."""

    def to_json(self) -> dict[str, Json]:
        """As run.json has it."""
        files: list[Json] = [file.to_json() for file in self.files]
        return {"as": self.form, "files": files, "n_problems": self.n_problems, **self.about}

    @classmethod
    def from_json(cls, value: Json) -> Imported:
        """From what run.json has."""
        content = as_object(value, "'imported'")
        files = [as_object(file, "a file of 'imported'") for file in entry(content, "files", list)]
        return cls(
            form=entry(content, "as", str),
            files=tuple(
                ImportedFile(
                    name=entry(file, "name", str), sha256=entry(file, "sha256", str), kept=entry(file, "kept", str, "")
                )
                for file in files
            ),
            n_problems=entry(content, "n_problems", int),
            about={name: part for name, part in content.items() if name not in ("as", "files", "n_problems")},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """All that run.json says."""

    asked: Asked
    choice: Choice = field(default_factory=dict)
    """What the user chose; empty for an import."""
    components: tuple[Resolved, ...] = ()
    environment: Mapping[str, Json] = field(default_factory=dict)
    resumed_in: tuple[Mapping[str, Json], ...] = ()
    """Other surroundings in which the run went on."""
    judged: Judged | None = None
    """None when the run is judged as it was asked."""
    imported: Imported | None = None
    images: str = ""
    """Where the image files are, if not in the run's directory; changes nothing that is asked."""

    def to_json(self) -> dict[str, Json]:
        """The whole file."""
        content: dict[str, Json] = {"format": FORMAT, "asked": self.asked.to_json(), "choice": dict(self.choice)}
        if self.components:
            content |= {"components": _by_role(self.components), "environment": dict(self.environment)}
        if self.resumed_in:
            content["resumed_in"] = [dict(environment) for environment in self.resumed_in]
        if self.judged is not None:
            before, now = self.asked.to_json(), self.judged.asked.to_json()
            differing = {name: now[name] for name in _REJUDGED if now[name] != before[name]}
            content["judged"] = {**differing, "leading": dict(self.judged.leading)}
        if self.imported is not None:
            content["imported"] = self.imported.to_json()
        return content | ({"images": self.images} if self.images else {})

    @classmethod
    def from_json(cls, value: Json) -> RunFile:
        """From the whole file."""
        content = as_object(value, "it")
        asked = entry(content, "asked", dict)
        judged = entry(content, "judged", dict) if "judged" in content else None
        return cls(
            asked=Asked.from_json(asked),
            choice=entry(content, "choice", dict),
            components=tuple(_resolved(entry(content, "components", dict, {}))),
            environment=entry(content, "environment", dict, {}),
            resumed_in=tuple(as_object(part, "'resumed_in'") for part in entry(content, "resumed_in", list, [])),
            judged=None if judged is None else _judged(asked, judged),
            imported=Imported.from_json(content["imported"]) if "imported" in content else None,
            images=entry(content, "images", str, ""),
        )

    def judged_as(self) -> Judged:
        """How the run is judged now."""
        return self.judged or Judged(asked=self.asked)


def _judged(asked: dict[str, Json], judged: dict[str, Json]) -> Judged:
    changes = {name: judged[name] for name in _REJUDGED if name in judged}
    leading = {str(check): str(who) for check, who in entry(judged, "leading", dict, {}).items()}
    return Judged(asked=Asked.from_json({**asked, **changes}), leading=leading)


def _by_role(components: tuple[Resolved, ...]) -> dict[str, Json]:
    suites = (c for c in components if c.role == "suite")
    models = (c for c in components if c.role == "model")
    checks = (c for c in components if c.role == "check")
    observers = (c for c in components if c.role not in ("suite", "model", "check"))
    return {
        "suite": dict(next(suites).identity),
        "models": [{**model.identity, "component_id": model.component_id} for model in models],
        "observers": {f"{eye.role}:{eye.label or eye.identity['name']}": dict(eye.identity) for eye in observers},
        "checks": [dict(check.identity) for check in checks],
    }


def _resolved(content: dict[str, Json]) -> Iterator[Resolved]:
    if not content:
        return
    listed = [("suite:", entry(content, "suite", dict))]
    listed += [("model:", model) for model in entry(content, "models", list)]
    listed += list(entry(content, "observers", dict).items())
    listed += [("check:", check) for check in entry(content, "checks", list)]
    for key, part in listed:
        role, _, label = key.partition(":")
        identity = as_object(part, f"a {role} of 'components'")
        component_id = entry(identity, "component_id", str, "")
        rest = {name: value for name, value in identity.items() if name != "component_id"}
        yield Resolved(
            role=role, identity=rest, component_id=component_id, label=label if label != rest.get("name") else ""
        )
