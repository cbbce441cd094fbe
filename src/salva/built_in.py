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
        "actesting": _one("suites.actesting.suite:Actesting", "Captions, and the same captions with one change."),
        "cfworld": _one("suites.cfworld.suite:CfWorld", "Facts and counterfactuals, stated or to be deduced."),
        "faithfulness": _one(
            "suites.faithfulness.suite:Faithfulness", "Equivalences and contrasts, answered by a VQA."
        ),
        "geneval": _one("suites.geneval.suite:GenEval", "GenEval's six tasks, and variants of them."),
        "metalogic": _one(
            "suites.metalogic.suite:MetaLogic", "Logically equivalent prompts: 20 categories and counts."
        ),
        "scene": _one("suites.scene.suite:SceneSuite", "One scene of your own, reworded by a law of logic."),
        "prompts": _one("suites.prompts.suite:Prompts", "Your own prompts, from a file."),
        "semvar": _one("suites.semvar.suite:SemVar", "Sentences whose words are permuted, with and without effect."),
        "tifa-lite": _one("suites.faithfulness.suite:Faithfulness", "Another name of faithfulness."),
    },
    "model": {
        "a1111": _api("generators.a1111:A1111", "A checkpoint on a Stable Diffusion web UI.", "A1111_API_KEY"),
        "comfyui": _api("generators.comfyui:ComfyUi", "A workflow on a ComfyUI server."),
        "command": _one("generators.command_line:CommandLine", "A program: JSON lines in, paths of images out."),
        "deduce": _api("generators.deduce:Deduce", "A text model rewrites the prompt for another model.", *_OPENAI),
        "diffusers": _torch(
            "generators.diffusers_pipeline:DiffusersPipeline", "A diffusers checkpoint on this machine."
        ),
        "folder": _one("generators.folder:FolderImages", "Images you already have."),
        "google": _api("generators.google_images:GoogleImages", "Gemini image models.", *_GOOGLE),
        "openai": _api(
            "generators.openai_images:OpenAiImages", "OpenAI's images API and compatible servers.", *_OPENAI
        ),
        "painter": _one("generators.painter.component:Painter", "Draws what a formula says; plants faults on request."),
        "pipeline": _torch("generators.diffusers_object:PipelineObject", "A diffusers pipeline handed over in Python."),
        "pocket": _one("generators.pocket:Pocket", "Small trained text-to-image models that come with salva."),
        "python": _one("generators.from_python:FromPython", "A function handed over in Python."),
    },
    "detector": {
        "detr": _torch("detectors.detr:Detr", "Detection transformers with fixed labels."),
        "florence2": _torch("detectors.florence2:Florence2", "Florence-2, in its own words."),
        "florence2-grounding": _torch("detectors.florence2:Florence2Grounding", "Florence-2, asked for entities."),
        "grounding-dino": _torch("detectors.grounding_dino:GroundingDino", "Grounding DINO; takes any word."),
        "llmdet": _torch("detectors.grounding_dino:LlmDet", "LLMDet; takes any word."),
        "mask2former": _torch("detectors.mask2former:Mask2Former", "Mask2Former with fixed labels and masks."),
        "mm-grounding-dino": _torch("detectors.grounding_dino:MmGroundingDino", "MM Grounding DINO; takes any word."),
        "onnx": _one("detectors.onnx_yolox:OnnxYolox", "A YOLOX-style ONNX file."),
        "owlv2": _torch("detectors.owlv2:Owlv2", "OWLv2; takes any word."),
        "sam3": _torch("detectors.sam3:Sam3", "SAM 3; takes any word."),
        "pocket": _one("detectors.pocket_detector:PocketDetector", "The embedded detector, for painter and pocket."),
        "scene-graph": _one("detectors.scene_graph_files:SceneGraphFiles", "Boxes and relations from files."),
    },
    "reader": {"rapidocr": _one("readers.rapid_ocr:RapidOcr", "Finds lines of text and reads them.")},
    "embedder": {
        "clip": _torch("embedders.clip_like:Clip", "A CLIP model."),
        "inception": _one("embedders.inception:Inception", "Inception features of images, from an ONNX file."),
        "pocket": _one("embedders.pocket_embedder:PocketEmbedder", "The embedded embedder, for painter and pocket."),
        "published-inception": _torch(
            "embedders.published_inception:PublishedInception", "FID's own Inception weights."
        ),
        "siglip": _torch("embedders.clip_like:Siglip", "A SigLIP model."),
    },
    "judge": {
        "anthropic": _api("judges.anthropic_judge:AnthropicJudge", "A Claude model.", "ANTHROPIC_API_KEY"),
        "blip-vqa": _torch("judges.blip_vqa:BlipVqa", "BLIP answers questions in a word or two."),
        "google": _api("judges.google_judge:GoogleJudge", "A Gemini model.", *_GOOGLE),
        "openai": _api(
            "judges.chat_judge:ChatJudge", "A model behind OpenAI's chat API or a compatible server.", *_OPENAI
        ),
        "scene": _one("judges.scene_judge:SceneJudge", "Answers from detections and formulas."),
        "transformers": _torch("judges.local_vlm_judge:LocalVlmJudge", "A vision-language model on this machine."),
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
        "must-differ": _check(
            "checks.must_differ:MustDiffer", "Images of different meanings get different answers.", needs="judge"
        ),
        "named-entities": _check(
            "checks.named_entities:NamedEntities",
            "Each image shows the entities that its prompt names.",
            *("actesting", "prompts", "semvar"),
            needs="detector",
        ),
        "retention": _check(
            "suites.cfworld.retention:Retention",
            "A counterfactual keeps what its rule keeps.",
            "cfworld",
            needs="judge",
        ),
        "right-answers": _check(
            "checks.right_answers:RightAnswers", "Each image gets the answers its prompt expects.", needs="judge"
        ),
        "same-answers": _check("checks.same_answers:SameAnswers", "Both images get the same answers.", needs="judge"),
        "same-scene": _check(
            "checks.same_scene:SameScene", "Both images show the same entities, numbers and order.", needs="detector"
        ),
        "same-similarity": _check(
            "checks.same_similarity:SameSimilarity", "Both images fit their prompts equally well.", needs="embedder"
        ),
        "semantic-effect": _check(
            "suites.semvar.semantic_effect:SemanticEffect",
            "The image changes when the meaning does, and only then.",
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
            "Each image is one of its prompt's worlds and shows no text it was not asked for.",
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
        "one-wording": _one("results.metrics.one_wording:OneWording", "Pairs of which one image is missing."),
        "prompts-tables": _one("suites.prompts.tables:PromptsTables", "How each prompt was checked.", "prompts"),
        "rating-tables": _one("results.metrics.rating_tables:RatingTables", "Mean ratings by rater.", "ratings"),
        "semvar-tables": _one("suites.semvar.tables:SemVarTables", "Kappa and the paper's tables.", "semvar"),
    },
    "importer": {
        "archive": _one("exchange.archive:ArchiveImport", "A run that `salva export --as archive` wrote."),
        "cfworld": _one("suites.cfworld.scores_import:ScoresImport", "Score files of CF-World's program.", "cfworld"),
        "geneval": _one("suites.geneval.results_import:ResultsImport", "Result lines of GenEval's program.", "geneval"),
        "ratings": _one("exchange.import_ratings:RatingsImport", "Ratings by people and scores by judges."),
        "tifa-lite": _one(
            "suites.faithfulness.tifa_import:TifaImport",
            "Prompts, answers and CLIP scores of TIFA-lite.",
            *("faithfulness", "tifa-lite"),
        ),
    },
    "exporter": {
        "actesting": _one(
            "suites.actesting.published_sets:PublishedSets", "A folder as ACTesting's program keeps it.", "actesting"
        ),
        "archive": _one("exchange.archive:ArchiveExport", "One file with the whole run."),
        "counterexamples": _one(
            "exchange.counterexamples:Counterexamples", "A folder of failing cases as images, with an index."
        ),
        "csv": _one("exchange.verdict_rows:CsvRows", "One row a verdict."),
        "results": _one("exchange.verdict_rows:ResultRows", "One row a result."),
        "dpo": _one("exchange.training_export:DpoTable", "Right against failed images, for preference tuning."),
        "geneval": _one(
            "suites.geneval.results_export:ResultsExport", "A folder as GenEval's program keeps it.", "geneval"
        ),
        "parquet": _one("exchange.verdict_rows:ParquetRows", "The rows of csv as Parquet."),
        "ratings": _one("review.rating_sheets:RatingSheet", "Images and an empty sheet for people to fill in."),
        "review": _one("review.review_sheets:ReviewSheet", "Results drawn at random, for people to say what failed."),
        "sft": _one("exchange.training_export:SftFolder", "Right images with captions, for supervised tuning."),
        "tifa-lite": _one(
            "suites.faithfulness.tifa_export:TifaExport",
            "A folder in TIFA-lite's layout.",
            *("faithfulness", "tifa-lite"),
        ),
    },
    "executor": {
        "local": _one("engine.executors.local:LocalExecutor", "Threads of this process."),
        "ray": _one("engine.executors.ray:RayExecutor", "Actors on a Ray cluster, or on this machine."),
    },
}
