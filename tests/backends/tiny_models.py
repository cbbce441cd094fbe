"""Checkpoints of the true classes, a few numbers wide, with random weights: made in a second, saved as users save."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")
tokenizers: Any = pytest.importorskip("tokenizers", reason="needs the extra torch")


WORDS = (
    *(
        "a",
        "cat",
        "kitten",
        "dog",
        "horse",
        "cow",
        "car",
        "photo",
        "of",
        "pair",
        "scissors",
        "and",
        "the",
        ".",
        ",",
        "?",
    ),
    *("locate", "objects", "with", "category", "name", "in", "image", "phrases", "caption", ":", "red", "there", "is"),
)
SIDE = 32


def word_tokenizer(special: Sequence[str], *, first: str = "", last: str = "", **names: Any) -> Any:
    """A tokenizer of whole words; every word it does not know is one and the same."""
    # The end mark has the largest number: CLIP takes a text's vector where that stands.
    tokens = [*(token for token in special if token != last), *WORDS, *([last] if last else [])]
    core = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token=names["unk_token"])
    )
    core.normalizer = tokenizers.normalizers.Lowercase()
    core.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([tokenizers.pre_tokenizers.Whitespace()])
    core.decoder = tokenizers.decoders.Fuse()
    if first:
        pair = [(token, tokens.index(token)) for token in (first, last)]
        core.post_processor = tokenizers.processors.TemplateProcessing(single=f"{first} $A {last}", special_tokens=pair)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=core, **names)


def save_florence2(folder: Path, answer: Sequence[str] = ()) -> Path:
    """Florence-2: a small eye, a small BART, and words for places.

    answer: the words it says about any picture; without, what random weights say.
    """
    torch.manual_seed(7)
    places = [f"<loc_{i}>" for i in range(1000)]
    tokenizer = word_tokenizer(
        ["<s>", "<pad>", "</s>", "<unk>", "<image>", *places],
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )
    tokenizer.add_tokens(places, special_tokens=True)
    n_words = len(tokenizer)
    config = transformers.Florence2Config(
        text_config=transformers.BartConfig(
            vocab_size=n_words,
            d_model=64,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_position_embeddings=128,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
            forced_eos_token_id=2,
            is_encoder_decoder=True,
            # Wide enough that different pictures are answered differently.
            init_std=0.5,
        ),
        vision_config=transformers.Florence2VisionConfig(
            depths=(1, 1, 1, 1),
            embed_dim=(8, 8, 8, 8),
            num_heads=(1, 1, 1, 1),
            num_groups=(1, 1, 1, 1),
            window_size=2,
            projection_dim=64,
            initializer_range=0.5,
        ),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    model = transformers.Florence2ForConditionalGeneration(config)
    # As in the published checkpoints.
    model.generation_config.early_stopping = True
    model.generation_config.num_beams = 3
    if answer:
        _teach(model, tokenizer.convert_tokens_to_ids([*answer, "</s>"]))
    image_processor = transformers.CLIPImageProcessorPil(
        size={"height": 64, "width": 64},
        do_center_crop=False,
        image_mean=[0.485, 0.456, 0.406],
        image_std=[0.229, 0.224, 0.225],
    )
    # 64 px through strides 4, 2, 2, 2 leaves 2 x 2 places, and one for the whole.
    image_processor.image_seq_length = 5
    processor = transformers.Florence2Processor(
        image_processor=image_processor,
        tokenizer=tokenizer,
        post_processor_config={
            task: {} for task in ("description_with_bboxes", "phrase_grounding", "pure_text", "bboxes")
        },
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _teach(model: Any, tokens: list[int]) -> None:
    """Let the decoder say these tokens: its layers add nothing, and each place stands for the word that comes there."""
    language = model.model.language_model
    with torch.no_grad():
        for layer in language.decoder.layers:
            for part in (layer.self_attn.out_proj, layer.encoder_attn.out_proj, layer.fc2):
                part.weight.zero_()
                part.bias.zero_()
        words = torch.nn.functional.normalize(torch.randn(language.shared.weight.shape), dim=-1)
        language.shared.weight.copy_(words)
        for place, token in enumerate(tokens):
            language.decoder.embed_positions.weight[place + 2] = 50 * words[token]


LABELS = {0: "cat", 1: "dog", 2: "sports ball"}


def save_detr(folder: Path, labels: dict[int, str] | None = None) -> Path:
    """DETR over a small ResNet."""
    torch.manual_seed(3)
    backbone = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1], layer_type="basic", out_features=["stage2"]
    )
    config = transformers.DetrConfig(
        backbone_config=backbone,
        num_queries=8,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        id2label=LABELS if labels is None else labels,
        init_std=0.4,
    )
    transformers.DetrForObjectDetection(config).save_pretrained(folder)
    transformers.DetrImageProcessorPil(size={"shortest_edge": 48, "longest_edge": 80}).save_pretrained(folder)
    return folder


def tiny_mask2former(labels: dict[int, str] | None = None, **changes: Any) -> Any:
    """Mask2Former over a small Swin, as it stands in memory."""
    torch.manual_seed(3)
    backbone = transformers.SwinConfig(
        embed_dim=8,
        depths=[2, 1, 1, 1],
        num_heads=[1, 2, 2, 4],
        window_size=2,
        drop_path_rate=0.0,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        initializer_range=0.3,
    )
    config = transformers.Mask2FormerConfig(
        **{
            "backbone_config": backbone,
            "feature_size": 32,
            "mask_feature_size": 32,
            "hidden_dim": 32,
            "encoder_feedforward_dim": 16,
            "dim_feedforward": 16,
            "encoder_layers": 1,
            "decoder_layers": 4,
            "num_attention_heads": 2,
            "num_queries": 8,
            "id2label": LABELS if labels is None else labels,
            "init_std": 0.4,
            **changes,
        }
    )
    return transformers.Mask2FormerForUniversalSegmentation(config).eval()


def save_mask2former(folder: Path, labels: dict[int, str] | None = None) -> Path:
    """Mask2Former, sure of what it sees in noise."""
    model = tiny_mask2former(labels)
    with torch.no_grad():
        model.class_predictor.weight.normal_(0, 2)
    model.save_pretrained(folder)
    return folder


def save_rt_detr(folder: Path) -> Path:
    """RT-DETR, which scores by sigmoid and takes a square."""
    torch.manual_seed(3)
    backbone = transformers.RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 8, 8, 8],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = transformers.RTDetrConfig(
        backbone_config=backbone,
        encoder_hidden_dim=16,
        encoder_in_channels=[8, 8, 8],
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        d_model=16,
        num_queries=8,
        decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=16,
        decoder_layers=1,
        decoder_attention_heads=2,
        num_denoising=0,
        id2label=LABELS,
        initializer_range=0.4,
    )
    transformers.RTDetrForObjectDetection(config).save_pretrained(folder)
    transformers.RTDetrImageProcessorPil(size={"height": 64, "width": 64}).save_pretrained(folder)
    return folder


def save_d_fine(folder: Path) -> Path:
    """D-FINE, which comes with RT-DETR's image processor."""
    torch.manual_seed(3)
    backbone = transformers.HGNetV2Config(
        embedding_size=8,
        hidden_sizes=[8, 8, 8, 8],
        stem_channels=[3, 8, 8],
        stage_in_channels=[8, 8, 8, 8],
        stage_mid_channels=[8, 8, 8, 8],
        stage_out_channels=[8, 8, 8, 8],
        stage_num_blocks=[1, 1, 1, 1],
        stage_numb_of_layers=[1, 1, 1, 1],
        out_features=["stage2", "stage3", "stage4"],
    )
    config = transformers.DFineConfig(
        backbone_config=backbone,
        encoder_hidden_dim=16,
        encoder_in_channels=[8, 8, 8],
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        d_model=16,
        num_queries=8,
        decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=16,
        decoder_layers=2,
        decoder_attention_heads=2,
        num_denoising=0,
        id2label=LABELS,
        initializer_range=0.4,
    )
    transformers.DFineForObjectDetection(config).save_pretrained(folder)
    transformers.RTDetrImageProcessorPil(size={"height": 64, "width": 64}).save_pretrained(folder)
    return folder


def save_mm_grounding_dino(folder: Path) -> Path:
    """MM Grounding DINO, as LLMDet is saved too."""
    return save_grounding_dino(folder, "MMGroundingDino")


def save_grounding_dino(folder: Path, family: str = "GroundingDino") -> Path:
    """Grounding DINO over a small Swin and a small BERT."""
    torch.manual_seed(3)
    tokenizer = word_tokenizer(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
        first="[CLS]",
        last="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    config = getattr(transformers, f"{family}Config")(
        backbone_config=transformers.SwinConfig(
            image_size=32,
            patch_size=4,
            embed_dim=8,
            depths=[1, 1, 1],
            num_heads=[1, 1, 1],
            window_size=2,
            out_features=["stage2", "stage3"],
        ),
        text_config=transformers.BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=64,
        ),
        num_queries=8,
        d_model=32,
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        decoder_layers=2,
        decoder_ffn_dim=16,
        decoder_attention_heads=2,
        num_feature_levels=2,
        max_text_len=24,
        init_std=0.4,
    )
    getattr(transformers, f"{family}ForObjectDetection")(config).save_pretrained(folder)
    image_processor = transformers.GroundingDinoImageProcessorPil(size={"shortest_edge": 32, "longest_edge": 64})
    transformers.GroundingDinoProcessor(image_processor=image_processor, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def _clip_words(n_tokens: int, **names: Any) -> Any:
    return word_tokenizer(
        ["<pad>", "<start>", "<unk>", "<end>"],
        first="<start>",
        last="<end>",
        bos_token="<start>",
        eos_token="<end>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=n_tokens,
        **names,
    )


def save_owlv2(folder: Path, tokenizer: Any = None, n_tokens: int = 12) -> Path:
    """OWLv2 with a small CLIP inside; a tokenizer of its own where it must tell any two words apart."""
    torch.manual_seed(3)
    tokenizer = tokenizer or _clip_words(n_tokens)
    config = transformers.Owlv2Config(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "max_position_embeddings": n_tokens,
        },
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 64,
            "patch_size": 16,
        },
        projection_dim=16,
    )
    transformers.Owlv2ForObjectDetection(config).save_pretrained(folder)
    image_processor = transformers.Owlv2ImageProcessorPil(size={"height": 64, "width": 64})
    transformers.Owlv2Processor(image_processor=image_processor, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def save_sam3(folder: Path) -> Path:
    """SAM 3 with a small eye; its image processor is not saved, since nobody reads it."""
    torch.manual_seed(3)
    tokenizer = _clip_words(12)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "initializer_range": 0.4}
    config = transformers.Sam3Config(
        vision_config={
            "backbone_config": {
                **small,
                "model_type": "sam3_vit_model",
                "num_hidden_layers": 1,
                "image_size": 56,
                "pretrain_image_size": 56,
                "patch_size": 14,
                "window_size": 2,
                "global_attn_indexes": [0],
            },
            "fpn_hidden_size": 16,
            "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        },
        text_config={
            **small,
            "vocab_size": len(tokenizer),
            "num_hidden_layers": 1,
            "max_position_embeddings": 12,
            "projection_dim": 16,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
        },
        geometry_encoder_config={**small, "num_layers": 1},
        detr_encoder_config={**small, "num_layers": 1},
        detr_decoder_config={**small, "num_layers": 1, "num_queries": 8},
        mask_decoder_config={"hidden_size": 16, "num_attention_heads": 2},
    )
    transformers.Sam3Model(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_clip(folder: Path) -> Path:
    """CLIP: two small transformers."""
    torch.manual_seed(3)
    tokenizer = _clip_words(10)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.CLIPConfig(
        text_config={
            **size,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 10,
            "bos_token_id": 1,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": 0,
        },
        vision_config={**size, "image_size": SIDE, "patch_size": 8},
        projection_dim=12,
        initializer_factor=20.0,
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    image_processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    transformers.CLIPProcessor(image_processor=image_processor, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def save_siglip(folder: Path) -> Path:
    """SigLIP: two small transformers."""
    torch.manual_seed(3)
    tokenizer = _clip_words(10, model_input_names=["input_ids"])
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.SiglipConfig(
        text_config={**size, "vocab_size": len(tokenizer), "max_position_embeddings": 10, "projection_size": 16},
        vision_config={**size, "image_size": SIDE, "patch_size": 8},
    )
    transformers.SiglipModel(config).save_pretrained(folder)
    image_processor = transformers.SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE})
    transformers.SiglipProcessor(image_processor=image_processor, tokenizer=tokenizer).save_pretrained(folder)
    return folder
