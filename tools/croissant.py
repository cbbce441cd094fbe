"""The Croissant description of CF-World's starter set, made from its files: python tools/croissant.py

Writes src/salva/suites/cfworld/starter/croissant.json; with --check it only says whether that file is up to date.
Validate it where mlcroissant is installed (it brings pandas and scipy, so it is none of our dependencies):
mlcroissant validate --jsonld src/salva/suites/cfworld/starter/croissant.json
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "src/salva/suites/cfworld/starter"
OUTPUT = FOLDER / "croissant.json"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
WRITTEN_BY = (
    "All texts were written by a language model under the four criteria of the CF-World paper (visual unambiguity, "
    "logical deduction, safety, scientific validity), read through twice more by a language model as a teacher would, "
    "and checked by the lint of this project. No person has reviewed them."
)
LIMITS = (
    "English only, middle-school level, one law changed at a time; counterfactuals are told as simple wholes and leave "
    "out side effects that a strict reading would bring. Prompts were compared by shared words with the published "
    "prompts that we hold; none is equal or nearly equal."
)
GROUP_FIELDS = {
    "discipline": ("discipline", None, "Mechanics, optics, and so on."),
    "id": ("id", None, "The group's name, unique in the set."),
    "category": ("category", None, "The topic inside the discipline."),
    "principle": ("principle", None, "The law that holds in l1 and is changed in l2 and l3."),
    **{
        f"{level}_{part}": (level, f"$.{part}", f"The {part} of {level}.")
        for level in ("l1", "l2", "l3")
        for part in ("prompt", "point")
    },
    "denorm": ("denorm", None, "The prompt of l2 with its telling nouns described instead of named."),
}
PROBE_FIELDS = {
    "part": ("part", None, "rule or attribute."),
    "id": ("id", None, "The probe's name."),
    "principle": ("principle", None, "The rule, or the thing with its rare and its common partner."),
}


def description() -> dict[str, Any]:
    """The whole file, as JSON-LD."""
    files = sorted(FOLDER.glob("*.jsonl"))
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "salva-cfworld-starter",
        "description": "Facts, counterfactuals said and counterfactuals to be deduced, for text-to-image models: "
        "groups of three prompts over nine disciplines with assessment points and graded questions, and two probes.",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "license": "https://spdx.org/licenses/Apache-2.0.html",
        "version": "1.0.0",
        "datePublished": "2026-11-16",
        "creator": {"@type": "sc:Organization", "name": "The salva developers"},
        "citeAs": "The salva developers: CF-World starter set, part of salva.",
        "isLiveDataset": False,
        "rai:dataCollection": WRITTEN_BY,
        "rai:dataLimitations": LIMITS,
        "rai:dataUseCases": "Testing whether a model paints a changed law. Not made for training or for teaching.",
        "rai:personalSensitiveInformation": "None: no person is named.",
        "distribution": [_file(path) for path in files],
        "recordSet": [_record_set(path) for path in files],
    }


def _file(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "description": f"{len(content.splitlines())} lines of JSON.",
        "contentUrl": path.name,
        "encodingFormat": "application/jsonlines",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _record_set(path: Path) -> dict[str, Any]:
    name = path.stem
    is_probe = name in ("rules", "attributes")
    fields = PROBE_FIELDS if is_probe else GROUP_FIELDS
    what = "Probes" if is_probe else f"Groups of {name}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{what}, one record a line.",
        "key": {"@id": f"{name}/id"},
        "field": [_field(f"{name}/{field}", path.name, *said) for field, said in fields.items()],
    }


def _field(name: str, file: str, column: str, path: str | None, says: str) -> dict[str, Any]:
    source: dict[str, Any] = {"fileObject": {"@id": file}, "extract": {"column": column}}
    if path:
        source["transform"] = {"jsonPath": path}
    made = {"@type": "cr:Field", "@id": name, "name": name, "description": says, "dataType": "sc:Text"}
    return {**made, "source": source}


def main() -> None:
    """Write the file, or with --check compare it."""
    text = json.dumps(description(), separators=(",", ":")) + "\n"
    if "--check" not in sys.argv:
        OUTPUT.write_text(text, encoding="utf-8")
    elif not OUTPUT.is_file() or OUTPUT.read_text(encoding="utf-8") != text:
        sys.exit(f"{OUTPUT.name} is not that of these files; run: python tools/croissant.py")


if __name__ == "__main__":
    main()
