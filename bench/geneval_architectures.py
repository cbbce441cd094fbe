"""Mask2Former over Swin-small and CLIP ViT-L/14 as GenEval uses them, with random weights.

Speed does not depend on what the weights say, but on how much is found: the detector's are tuned until so many of its
queries find something. `is_tiny` keeps the shape of the thing and makes it small enough for one core.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from salva.assets.coco_names import COCO


def save_mask2former(folder: Path, device: str, *, is_tiny: bool, n_found: int) -> Path:
    """mask2former_swin-s-p4-w7-224: 100 queries, 80 classes; n_found of the queries find something."""
    import torch

    transformers: Any = importlib.import_module("transformers")
    backbone = transformers.SwinConfig(
        embed_dim=8 if is_tiny else 96,
        depths=[1, 1, 1, 1] if is_tiny else [2, 2, 18, 2],
        num_heads=[1, 1, 2, 2] if is_tiny else [3, 6, 12, 24],
        window_size=2 if is_tiny else 7,
        drop_path_rate=0.3,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    width = 32 if is_tiny else 256
    config = transformers.Mask2FormerConfig(
        backbone_config=backbone,
        feature_size=width,
        mask_feature_size=width,
        hidden_dim=width,
        encoder_feedforward_dim=4 * width,
        dim_feedforward=8 * width,
        encoder_layers=1 if is_tiny else 6,
        decoder_layers=2 if is_tiny else 10,
        num_attention_heads=8,
        num_queries=100,
        id2label=dict(enumerate(COCO)),
        label2id={name: i for i, name in enumerate(COCO)},
    )
    torch.manual_seed(0)
    with torch.device(device):
        model = transformers.Mask2FormerForUniversalSegmentation(config).eval()
        side = 64 if is_tiny else 800
        coarse = torch.randn(1, 3, 8, 8)
        picture = torch.nn.functional.interpolate(coarse, size=(side, side), mode="bicubic")
    model.to(device)  # one of its weights is made on the processor wherever it is told to be
    with torch.no_grad():
        # Queries that differ, as trained ones do; else all of them would find the same.
        for layer in model.model.transformer_module.decoder.layers:
            for part in (layer.cross_attn.out_proj, layer.self_attn.out_proj, layer.fc2):
                part.weight *= 0.1
        # Sure of one class each; then nothing is made the likeliest class of all but so many.
        model.class_predictor.weight.normal_(0, 12 / width**0.5)
        logits = model(pixel_values=picture).class_queries_logits[0]
        lead = (logits[:, :-1].max(1).values - logits[:, -1]).sort(descending=True).values
        model.class_predictor.bias[-1] += lead[n_found]
    model.save_pretrained(folder)
    return folder


def save_clip(folder: Path, device: str, *, is_tiny: bool) -> Path:
    """CLIP ViT-L/14: 24 layers for the eye at 224 px, 12 for the words."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel

    transformers: Any = importlib.import_module("transformers")
    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    # Words are spelled, which only makes texts longer; there are few texts.
    tokenizer = transformers.CLIPTokenizer(
        vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=77
    )

    def sizes(width: int, n_layers: int, n_heads: int) -> dict[str, Any]:
        return {
            "hidden_size": 32 if is_tiny else width,
            "intermediate_size": 64 if is_tiny else 4 * width,
            "num_hidden_layers": 1 if is_tiny else n_layers,
            "num_attention_heads": 2 if is_tiny else n_heads,
        }

    config = transformers.CLIPConfig(
        text_config={
            **sizes(768, 12, 12),
            "vocab_size": 49_408,
            "max_position_embeddings": 77,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={**sizes(1024, 24, 16), "image_size": 224, "patch_size": 14},
        projection_dim=32 if is_tiny else 768,
    )
    torch.manual_seed(0)
    with torch.device(device):
        model = transformers.CLIPModel(config)
    model.save_pretrained(folder)
    kind = getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor
    image_processor = kind(size={"shortest_edge": 224}, crop_size={"height": 224, "width": 224})
    transformers.CLIPProcessor(image_processor=image_processor, tokenizer=tokenizer).save_pretrained(folder)
    return folder
