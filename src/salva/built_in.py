"""The components that come with salva, by role and name: one literal table, read by the registry alone.

Nothing here is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "suite": {
        "actesting": "salva.suites.actesting.suite:Actesting",
        "cfworld": "salva.suites.cfworld.suite:CfWorld",
        "faithfulness": "salva.suites.faithfulness.suite:Faithfulness",
        "metalogic": "salva.suites.metalogic.suite:MetaLogic",
        "scene": "salva.suites.scene.suite:Scene",
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
        "detr": "salva.perception.detectors.detr:Detr",
        "florence2": "salva.perception.detectors.florence2:Florence2",
        "florence2-grounding": "salva.perception.detectors.florence2:Florence2Grounding",
        "grounding-dino": "salva.perception.detectors.grounding_dino:GroundingDino",
        "llmdet": "salva.perception.detectors.grounding_dino:LlmDet",
        "mask2former": "salva.perception.detectors.mask2former:Mask2Former",
        "mm-grounding-dino": "salva.perception.detectors.grounding_dino:MmGroundingDino",
        "onnx": "salva.perception.detectors.onnx_yolox:OnnxYolox",
        "owlv2": "salva.perception.detectors.owlv2:Owlv2",
        "sam3": "salva.perception.detectors.sam3:Sam3",
        "pocket": "salva.perception.detectors.pocket_detector:PocketDetector",
        "scene-graph": "salva.perception.detectors.scene_graph_files:SceneGraphFiles",
    },
    "reader": {"rapidocr": "salva.perception.readers.rapid_ocr:RapidOcr"},
    "embedder": {
        "clip": "salva.perception.embedders.clip_like:Clip",
        "inception": "salva.perception.embedders.inception:Inception",
        "pocket": "salva.perception.embedders.pocket_embedder:PocketEmbedder",
        "published-inception": "salva.perception.embedders.published_inception:PublishedInception",
        "siglip": "salva.perception.embedders.clip_like:Siglip",
    },
    "judge": {
        "anthropic": "salva.perception.judges.anthropic_judge:AnthropicJudge",
        "blip-vqa": "salva.perception.judges.blip_vqa:BlipVqa",
        "google": "salva.perception.judges.google_judge:GoogleJudge",
        "openai": "salva.perception.judges.chat_judge:ChatJudge",
        "scene": "salva.perception.judges.scene_judge:SceneJudge",
        "transformers": "salva.perception.judges.local_vlm_judge:LocalVlmJudge",
    },
    "relation": {
        "entity-change": "salva.suites.actesting.relations:EntityChange",
        "levels": "salva.suites.cfworld.levels:Levels",
        "must-differ": "salva.relations.must_differ:MustDiffer",
        "retention": "salva.suites.cfworld.retention:Retention",
        "same-answers": "salva.relations.same_answers:SameAnswers",
        "same-scene": "salva.relations.same_scene:SameScene",
        "same-similarity": "salva.relations.same_similarity:SameSimilarity",
        "semantic-effect": "salva.suites.semvar.semantic_effect:SemanticEffect",
        "triple-addition": "salva.suites.actesting.relations:TripleAddition",
        "triple-removal": "salva.suites.actesting.relations:TripleRemoval",
        "truth": "salva.relations.truth:Truth",
        "unchanged": "salva.suites.actesting.relations:Unchanged",
    },
    "metric": {
        "actesting-tables": "salva.suites.actesting.tables:ActestingTables",
        "violation-rates": "salva.metrics.violation_rates:ViolationRates",
        "cfworld-tables": "salva.suites.cfworld.tables:CfWorldTables",
        "faithfulness-tables": "salva.suites.faithfulness.tables:FaithfulnessTables",
        "judge-costs": "salva.metrics.judge_costs:JudgeCosts",
        "metalogic-tables": "salva.suites.metalogic.tables:MetaLogicTables",
        "rating-tables": "salva.metrics.rating_tables:RatingTables",
        "semvar-tables": "salva.suites.semvar.tables:SemVarTables",
    },
    "importer": {
        "cfworld": "salva.suites.cfworld.scores_import:ScoresImport",
        "ratings": "salva.exchange.import_ratings:RatingsImport",
        "tifa-lite": "salva.suites.faithfulness.tifa_import:TifaImport",
    },
    "exporter": {
        "actesting": "salva.suites.actesting.published_sets:PublishedSets",
        "counterexamples": "salva.exchange.counterexamples:Counterexamples",
        "csv": "salva.exchange.verdict_rows:CsvRows",
        "dpo": "salva.exchange.training_export:DpoTable",
        "parquet": "salva.exchange.verdict_rows:ParquetRows",
        "ratings": "salva.people.rating_sheets:RatingSheet",
        "sft": "salva.exchange.training_export:SftFolder",
        "tifa-lite": "salva.suites.faithfulness.tifa_export:TifaExport",
    },
    "executor": {"local": "salva.engine.executors.local:LocalExecutor"},
}
