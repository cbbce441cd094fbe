"""The components that come with salva, by role and name: one literal table, read by the registry alone.

Nothing here is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "suite": {
        "actesting": "salva.suites.actesting.suite:Actesting",
        "cfworld": "salva.suites.cfworld.suite:CfWorld",
        "faithfulness": "salva.suites.faithfulness.suite:Faithfulness",
        "geneval": "salva.suites.geneval.suite:GenEval",
        "metalogic": "salva.suites.metalogic.suite:MetaLogic",
        "scene": "salva.suites.scene.suite:Scene",
        "prompts": "salva.suites.prompts.suite:Prompts",
        "semvar": "salva.suites.semvar.suite:SemVar",
        "tifa-lite": "salva.suites.faithfulness.suite:Faithfulness",
    },
    "model": {
        "a1111": "salva.generators.a1111:A1111",
        "comfyui": "salva.generators.comfyui:ComfyUi",
        "command": "salva.generators.command_line:CommandLine",
        "deduce": "salva.generators.deduce:Deduce",
        "diffusers": "salva.generators.diffusers_pipeline:DiffusersPipeline",
        "folder": "salva.generators.folder:FolderImages",
        "google": "salva.generators.google_images:GoogleImages",
        "openai": "salva.generators.openai_images:OpenAiImages",
        "painter": "salva.generators.painter.component:Painter",
        "pipeline": "salva.generators.diffusers_object:PipelineObject",
        "pocket": "salva.generators.pocket:Pocket",
        "python": "salva.generators.from_python:FromPython",
    },
    "detector": {
        "detr": "salva.detectors.detr:Detr",
        "florence2": "salva.detectors.florence2:Florence2",
        "florence2-grounding": "salva.detectors.florence2:Florence2Grounding",
        "grounding-dino": "salva.detectors.grounding_dino:GroundingDino",
        "llmdet": "salva.detectors.grounding_dino:LlmDet",
        "mask2former": "salva.detectors.mask2former:Mask2Former",
        "mm-grounding-dino": "salva.detectors.grounding_dino:MmGroundingDino",
        "onnx": "salva.detectors.onnx_yolox:OnnxYolox",
        "owlv2": "salva.detectors.owlv2:Owlv2",
        "sam3": "salva.detectors.sam3:Sam3",
        "pocket": "salva.detectors.pocket_detector:PocketDetector",
        "scene-graph": "salva.detectors.scene_graph_files:SceneGraphFiles",
    },
    "reader": {"rapidocr": "salva.readers.rapid_ocr:RapidOcr"},
    "embedder": {
        "clip": "salva.embedders.clip_like:Clip",
        "inception": "salva.embedders.inception:Inception",
        "pocket": "salva.embedders.pocket_embedder:PocketEmbedder",
        "published-inception": "salva.embedders.published_inception:PublishedInception",
        "siglip": "salva.embedders.clip_like:Siglip",
    },
    "judge": {
        "anthropic": "salva.judges.anthropic_judge:AnthropicJudge",
        "blip-vqa": "salva.judges.blip_vqa:BlipVqa",
        "google": "salva.judges.google_judge:GoogleJudge",
        "openai": "salva.judges.chat_judge:ChatJudge",
        "scene": "salva.judges.scene_judge:SceneJudge",
        "transformers": "salva.judges.local_vlm_judge:LocalVlmJudge",
    },
    "check": {
        "entity-change": "salva.suites.actesting.checks:EntityChange",
        "geneval": "salva.suites.geneval.rules:GenEvalRule",
        "levels": "salva.suites.cfworld.levels:Levels",
        "must-differ": "salva.checks.must_differ:MustDiffer",
        "retention": "salva.suites.cfworld.retention:Retention",
        "right-answers": "salva.checks.right_answers:RightAnswers",
        "same-answers": "salva.checks.same_answers:SameAnswers",
        "same-scene": "salva.checks.same_scene:SameScene",
        "same-similarity": "salva.checks.same_similarity:SameSimilarity",
        "semantic-effect": "salva.suites.semvar.semantic_effect:SemanticEffect",
        "triple-addition": "salva.suites.actesting.checks:TripleAddition",
        "triple-removal": "salva.suites.actesting.checks:TripleRemoval",
        "truth": "salva.checks.truth:Truth",
        "unchanged": "salva.suites.actesting.checks:Unchanged",
    },
    "metric": {
        "actesting-tables": "salva.suites.actesting.tables:ActestingTables",
        "failure-rates": "salva.results.metrics.failure_rates:FailureRates",
        "cfworld-tables": "salva.suites.cfworld.tables:CfWorldTables",
        "faithfulness-tables": "salva.suites.faithfulness.tables:FaithfulnessTables",
        "geneval-tables": "salva.suites.geneval.tables:GenEvalTables",
        "judge-costs": "salva.results.metrics.judge_costs:JudgeCosts",
        "metalogic-tables": "salva.suites.metalogic.tables:MetaLogicTables",
        "one-wording": "salva.results.metrics.one_wording:OneWording",
        "prompts-tables": "salva.suites.prompts.tables:PromptsTables",
        "rating-tables": "salva.results.metrics.rating_tables:RatingTables",
        "semvar-tables": "salva.suites.semvar.tables:SemVarTables",
    },
    "importer": {
        "archive": "salva.exchange.archive:ArchiveImport",
        "cfworld": "salva.suites.cfworld.scores_import:ScoresImport",
        "geneval": "salva.suites.geneval.results_import:ResultsImport",
        "ratings": "salva.exchange.import_ratings:RatingsImport",
        "tifa-lite": "salva.suites.faithfulness.tifa_import:TifaImport",
    },
    "exporter": {
        "actesting": "salva.suites.actesting.published_sets:PublishedSets",
        "archive": "salva.exchange.archive:ArchiveExport",
        "counterexamples": "salva.exchange.counterexamples:Counterexamples",
        "csv": "salva.exchange.verdict_rows:CsvRows",
        "dpo": "salva.exchange.training_export:DpoTable",
        "geneval": "salva.suites.geneval.results_export:ResultsExport",
        "parquet": "salva.exchange.verdict_rows:ParquetRows",
        "ratings": "salva.review.rating_sheets:RatingSheet",
        "sft": "salva.exchange.training_export:SftFolder",
        "tifa-lite": "salva.suites.faithfulness.tifa_export:TifaExport",
    },
    "executor": {
        "local": "salva.engine.executors.local:LocalExecutor",
        "ray": "salva.engine.executors.ray:RayExecutor",
    },
}

_TORCH = {
    "model": ("diffusers", "pipeline"),
    "detector": (
        *("detr", "florence2", "florence2-grounding", "grounding-dino", "llmdet", "mask2former"),
        *("mm-grounding-dino", "owlv2", "sam3"),
    ),
    "embedder": ("clip", "siglip", "published-inception"),
    "judge": ("blip-vqa", "transformers"),
}
_API = {"model": ("a1111", "comfyui", "deduce", "google", "openai"), "judge": ("anthropic", "google", "openai")}
EXTRAS: Mapping[tuple[str, str], str] = {
    (role, name): extra
    for extra, by_role in (("torch", _TORCH), ("api", _API))
    for role, names in by_role.items()
    for name in names
}
"""Role and name of what does not work without one of salva's extras, to that extra."""

_OPENAI, _GOOGLE = ("OPENAI_API_KEY",), ("GEMINI_API_KEY", "GOOGLE_API_KEY")
KEYS: Mapping[tuple[str, str], tuple[str, ...]] = {
    **dict.fromkeys([*product(("model", "judge"), ("openai",)), ("model", "deduce")], _OPENAI),
    **dict.fromkeys(product(("model", "judge"), ("google",)), _GOOGLE),
    ("judge", "anthropic"): ("ANTHROPIC_API_KEY",),
    ("model", "a1111"): ("A1111_API_KEY",),
}
"""Role and name to the variables that may hold its key; one of them is enough, and an endpoint of one's own may need
none."""
