"""Text that means harm: every place a prompt, label or reading can reach must show it as text."""

from __future__ import annotations

from msgspec import structs
from report.fake_runs import ASKED, FakeImages, make_verdict

from salva.core.case import Case, Finding, Prompt
from salva.core.observation import Detection, TextSpan
from salva.core.run_spec import ComponentSpec
from salva.core.source import QuestionAnswer, RewrittenPrompt, RunRecords, Seen
from salva.core.verdict import Failure, Outcome, Verdict

SCRIPT = "<script>window.hacked = 1</script>"
IMAGE = "<img src=x onerror='window.hacked = 2'>"
BREAKOUT = "\"'></textarea></style></script><script>window.hacked = 3</script>"
SEPARATORS = "line\u2028para\u2029null-ish\u0085 </title><svg onload=window.hacked=4>"
FORMULA = '=cmd|"/C calc"!A0'
TEMPLATE = "{{ 7 * 7 }}{% for x in y %}"
EVERYTHING = f"{SCRIPT} {IMAGE} {BREAKOUT} {SEPARATORS} {TEMPLATE}"


def hostile_run() -> tuple[RunRecords, FakeImages]:
    """One failed case with harm in every text that a stranger can choose."""
    case = Case(
        case_id="case-1",
        suite="metalogic",
        category=f"category {BREAKOUT}",
        prompts=(
            Prompt(role="a", text=EVERYTHING, formula=BREAKOUT),
            Prompt(role="b", text=FORMULA, formula=SCRIPT),
        ),
        checks=("same-scene",),
        labels={"law": BREAKOUT, "modifier": IMAGE, "entities": FORMULA, f"odd {SCRIPT}": SEPARATORS},
        findings=(Finding(kind="note", sentence=EVERYTHING),),
        determinate=True,
    )
    model = f"folder/../../{BREAKOUT}"
    failure = Failure(failure_type=IMAGE, role="b", message=EVERYTHING, entity=SCRIPT)
    verdict = make_verdict(
        "case-1",
        Outcome.FAIL,
        model=model,
        check=IMAGE,
        observers=(SCRIPT,),
        errors=(IMAGE, "+1"),
        failures=(failure, Failure(failure_type=SCRIPT, role="", message=BREAKOUT)),
        scores={"=score": -0.5},
        images={"a": "image-a", "b": "image-b"},
    )
    undecided: Verdict = make_verdict(
        "case-1", Outcome.ERROR, repeat=1, model=model, check=IMAGE, observers=(SCRIPT,), reason=EVERYTHING
    )
    seen = Seen(
        boxes=(Detection(label=SCRIPT, score=0.9, box=(0.1, 0.1, 0.5, 0.5)),),
        texts=(TextSpan(text=BREAKOUT, score=0.9, box=(0.1, 0.6, 0.5, 0.7)),),
        answers=(QuestionAnswer(question=SCRIPT, answer=BREAKOUT, reason=IMAGE, rubric=SCRIPT),),
        painted=tuple(
            RewrittenPrompt(model=model, prompt=prompt.text, text=BREAKOUT, passed_over=(SCRIPT,), n=1)
            for prompt in case.prompts
        ),
    )
    named = ComponentSpec(role="model", name=model, options={"=x": SCRIPT})
    asked = structs.replace(ASKED, check=IMAGE, size=BREAKOUT, models=(named,))
    records = RunRecords(cases=(case,), verdicts=(verdict, undecided), asked=asked, name=SCRIPT)
    return records, FakeImages(seen_in={"image-a": seen, "image-b": seen})
