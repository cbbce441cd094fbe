"""The components that come with salva: everything that can be known of one without importing it.

One literal table, read by the registry alone. A suite's lines can be deleted together with its folder.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """One component."""

    source: str
    """module:Class"""
    summary: str = ""
    """One line for `salva list`."""
    suites: tuple[str, ...] = ()
    """The suites a check, metric or format serves; empty for all."""
    needs: tuple[str, ...] = ()
    """The roles that a check cannot do without."""
    scores_pairs: bool = False
    """Whether a check scores images against texts."""
    extra: str = ""
    """The extra of salva without which it does not work."""
    keys: tuple[str, ...] = ()
    """The variables that may hold its key; one is enough, and a private endpoint may need none."""


def _one(source: str, summary: str, *suites: str) -> BuiltIn:
    return BuiltIn(source=f"salva.{source}", summary=summary, suites=suites)


def _check(source: str, summary: str, *suites: str, needs: str, scores_pairs: bool = False) -> BuiltIn:
    return BuiltIn(source=f"salva.{source}", summary=summary, suites=suites, needs=(needs,), scores_pairs=scores_pairs)


def _torch(source: str, summary: str) -> BuiltIn:
    return BuiltIn(source=f"salva.{source}", summary=summary, extra="torch")


def _api(source: str, summary: str, *keys: str) -> BuiltIn:
    return BuiltIn(source=f"salva.{source}", summary=summary, extra="api", keys=keys)


_OPENAI, _GOOGLE = ("OPENAI_API_KEY",), ("GEMINI_API_KEY", "GOOGLE_API_KEY")

BUILT_IN: dict[str, dict[str, BuiltIn]] = {
    "suite": {
        "actesting": _one("suites.actesting.suite:Actesting", "Captions with one change."),
        "cfworld": _one("suites.cfworld.suite:CfWorld", "Facts and counterfactuals."),
        "faithfulness": _one("suites.faithfulness.suite:Faithfulness", "Equivalences and contrasts."),
        "geneval": _one("suites.geneval.suite:GenEval", "GenEval's six tasks."),
        "metalogic": _one("suites.metalogic.suite:MetaLogic", "Logically equivalent prompts."),
        "scene": _one("suites.scene.suite:SceneSuite", "One scene, reworded by a law."),
        "prompts": _one("suites.prompts.suite:Prompts", "Your own prompts."),
        "semvar": _one("suites.semvar.suite:SemVar", "Sentences with permuted words."),
        "tifa-lite": _one("suites.faithfulness.suite:Faithfulness", "Another name of faithfulness."),
    },
    "model": {
        "a1111": _api("generators.a1111:A1111", "A checkpoint on a web UI.", "A1111_API_KEY"),
        "comfyui": _api("generators.comfyui:ComfyUi", "A ComfyUI workflow."),
        "command": _one("generators.command_line:CommandLine", "A program that writes images."),
        "deduce": _api("generators.deduce:Deduce", "A text model rewrites prompts first.", *_OPENAI),
        "diffusers": _torch("generators.diffusers_pipeline:DiffusersPipeline", "A diffusers checkpoint."),
        "folder": _one("generators.folder:FolderImages", "Images you have."),
        "google": _api("generators.google_images:GoogleImages", "Gemini image models.", *_GOOGLE),
        "openai": _api("generators.openai_images:OpenAiImages", "OpenAI's images API.", *_OPENAI),
        "painter": _one("generators.painter.component:Painter", "Draws formulas; plants faults."),
        "pipeline": _torch("generators.diffusers_object:PipelineObject", "A pipeline from Python."),
        "pocket": _one("generators.pocket:Pocket", "Small models that come with salva."),
        "python": _one("generators.from_python:FromPython", "A function from Python."),
    },
    "detector": {
        "detr": _torch("detectors.detr:Detr", "DETR with fixed labels."),
        "florence2": _torch("detectors.florence2:Florence2", "Florence-2, in its own words."),
        "florence2-grounding": _torch("detectors.florence2:Florence2Grounding", "Florence-2, asked for entities."),
        "grounding-dino": _torch("detectors.grounding_dino:GroundingDino", "Grounding DINO; takes any word."),
        "llmdet": _torch("detectors.grounding_dino:LlmDet", "LLMDet; takes any word."),
        "mask2former": _torch("detectors.mask2former:Mask2Former", "Mask2Former with fixed labels."),
        "mm-grounding-dino": _torch("detectors.grounding_dino:MmGroundingDino", "MM Grounding DINO; takes any word."),
        "onnx": _one("detectors.onnx_yolox:OnnxYolox", "A YOLOX-style ONNX file."),
        "owlv2": _torch("detectors.owlv2:Owlv2", "OWLv2; takes any word."),
        "sam3": _torch("detectors.sam3:Sam3", "SAM 3; takes any word."),
        "pocket": _one("detectors.pocket_detector:PocketDetector", "For painter and pocket."),
        "scene-graph": _one("detectors.scene_graph_files:SceneGraphFiles", "Boxes from files."),
    },
    "reader": {"rapidocr": _one("readers.rapid_ocr:RapidOcr", "Reads lines of text.")},
    "embedder": {
        "clip": _torch("embedders.clip_like:Clip", "A CLIP model."),
        "inception": _one("embedders.inception:Inception", "Inception from an ONNX file."),
        "pocket": _one("embedders.pocket_embedder:PocketEmbedder", "For painter and pocket."),
        "published-inception": _torch("embedders.published_inception:PublishedInception", "FID's Inception weights."),
        "siglip": _torch("embedders.clip_like:Siglip", "A SigLIP model."),
    },
    "judge": {
        "anthropic": _api("judges.anthropic_judge:AnthropicJudge", "A Claude model.", "ANTHROPIC_API_KEY"),
        "blip-vqa": _torch("judges.blip_vqa:BlipVqa", "BLIP, in a word or two."),
        "google": _api("judges.google_judge:GoogleJudge", "A Gemini model.", *_GOOGLE),
        "openai": _api("judges.chat_judge:ChatJudge", "OpenAI's chat API.", *_OPENAI),
        "scene": _one("judges.scene_judge:SceneJudge", "Answers from detections."),
        "transformers": _torch("judges.local_vlm_judge:LocalVlmJudge", "A local vision-language model."),
    },
    "check": {
        "entity-change": _check(
            "suites.actesting.checks:EntityChange",
            "One entity changed, all else stays (MR1).",
            *("actesting", "prompts"),
            needs="detector",
        ),
        "geneval": _check(
            "suites.geneval.rules:GenEvalRule", "Each image is right by GenEval's rules.", "geneval", needs="detector"
        ),
        "levels": _check("suites.cfworld.levels:Levels", "A group scores at all its levels.", "cfworld", needs="judge"),
        "must-differ": _check("checks.must_differ:MustDiffer", "Different meanings, different answers.", needs="judge"),
        "named-entities": _check(
            "checks.named_entities:NamedEntities",
            "Images show what their prompts name.",
            *("actesting", "prompts", "semvar"),
            needs="detector",
        ),
        "no-text": _check(
            "checks.no_text:NoText",
            "No image shows text that its prompt does not ask for.",
            *("actesting", "cfworld", "faithfulness", "geneval", "metalogic", "prompts", "scene", "semvar"),
            needs="reader",
        ),
        "retention": _check(
            "suites.cfworld.retention:Retention",
            "Counterfactuals keep what their rule keeps.",
            "cfworld",
            needs="judge",
        ),
        "right-answers": _check("checks.right_answers:RightAnswers", "Images get the expected answers.", needs="judge"),
        "same-answers": _check("checks.same_answers:SameAnswers", "Same answers for both images.", needs="judge"),
        "same-scene": _check("checks.same_scene:SameScene", "Same entities, numbers and order.", needs="detector"),
        "same-similarity": _check(
            "checks.same_similarity:SameSimilarity", "Both images fit equally well.", needs="embedder"
        ),
        "semantic-effect": _check(
            "suites.semvar.semantic_effect:SemanticEffect",
            "Images change when the meaning does.",
            "semvar",
            scores_pairs=True,
            needs="judge",
        ),
        "triple-addition": _check(
            "suites.actesting.checks:TripleAddition",
            "One triple more, all else stays (MR3).",
            *("actesting", "prompts"),
            needs="detector",
        ),
        "triple-removal": _check(
            "suites.actesting.checks:TripleRemoval",
            "One triple less, all else stays (MR2).",
            *("actesting", "prompts"),
            needs="detector",
        ),
        "truth": _check(
            "checks.truth:Truth",
            "Each image is one of its prompt's worlds.",
            needs="detector",
        ),
        "unchanged": _check(
            "suites.actesting.checks:Unchanged",
            "Synonyms give the same image.",
            *("actesting", "prompts"),
            needs="detector",
        ),
    },
    "metric": {
        "actesting-tables": _one("suites.actesting.tables:ActestingTables", "The paper's tables.", "actesting"),
        "failure-rates": _one("results.metrics.failure_rates:FailureRates", "Rates, failure types, control."),
        "cfworld-tables": _one("suites.cfworld.tables:CfWorldTables", "PRR, RRR and the paper's tables.", "cfworld"),
        "faithfulness-tables": _one(
            "suites.faithfulness.tables:FaithfulnessTables",
            "Faithfulness, stability, CLIP scores.",
            *("faithfulness", "tifa-lite"),
        ),
        "geneval-tables": _one("suites.geneval.tables:GenEvalTables", "Right images by task and rule.", "geneval"),
        "judge-costs": _one("results.metrics.judge_costs:JudgeCosts", "Calls, tokens and costs of judges."),
        "metalogic-tables": _one(
            "suites.metalogic.tables:MetaLogicTables", "Law by modifier, counts, published figures.", "metalogic"
        ),
        "one-wording": _one("results.metrics.one_wording:OneWording", "Pairs with one image."),
        "prompts-tables": _one("suites.prompts.tables:PromptsTables", "How prompts were checked.", "prompts"),
        "rating-tables": _one("results.metrics.rating_tables:RatingTables", "Mean ratings by rater.", "ratings"),
        "semvar-tables": _one("suites.semvar.tables:SemVarTables", "Kappa and the paper's tables.", "semvar"),
    },
    "importer": {
        "archive": _one("exchange.archive:ArchiveImport", "An exported archive."),
        "cfworld": _one("suites.cfworld.scores_import:ScoresImport", "CF-World's score files.", "cfworld"),
        "geneval": _one("suites.geneval.results_import:ResultsImport", "GenEval's result lines.", "geneval"),
        "ratings": _one("exchange.import_ratings:RatingsImport", "Ratings and scores."),
        "tifa-lite": _one(
            "suites.faithfulness.tifa_import:TifaImport",
            "TIFA-lite's answers and scores.",
            *("faithfulness", "tifa-lite"),
        ),
    },
    "exporter": {
        "actesting": _one("suites.actesting.published_sets:PublishedSets", "ACTesting's own folder.", "actesting"),
        "archive": _one("exchange.archive:ArchiveExport", "The whole run."),
        "counterexamples": _one("exchange.counterexamples:Counterexamples", "Failing cases as images."),
        "csv": _one("exchange.verdict_rows:CsvRows", "One row a verdict."),
        "results": _one("exchange.verdict_rows:ResultRows", "One row a result."),
        "dpo": _one("exchange.training_export:DpoTable", "Right and failed images."),
        "geneval": _one("suites.geneval.results_export:ResultsExport", "GenEval's own folder.", "geneval"),
        "parquet": _one("exchange.verdict_rows:ParquetRows", "The csv rows as Parquet."),
        "ratings": _one("review.rating_sheets:RatingSheet", "Images and an empty rating sheet."),
        "review": _one("review.review_sheets:ReviewSheet", "Random results for people to review."),
        "sft": _one("exchange.training_export:SftFolder", "Right images with captions."),
        "tifa-lite": _one(
            "suites.faithfulness.tifa_export:TifaExport",
            "TIFA-lite's own folder.",
            *("faithfulness", "tifa-lite"),
        ),
    },
    "executor": {
        "local": _one("engine.executors.local:LocalExecutor", "Threads of this process."),
        "ray": _one("engine.executors.ray:RayExecutor", "Actors on Ray."),
    },
}
