"""Stable Diffusion 1.5 and Florence-2-base as they are, with random weights: every number of their configs is here.

Speed does not depend on what the weights say, so nothing is downloaded. `is_tiny` keeps the shape of the thing and
makes it small enough for one core, to try the measurement itself.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

N_WORDS = 51_289
"""Florence-2's vocabulary: BART's words, 1,000 places and its tags."""


def save_stable_diffusion(folder: Path, device: str, *, is_tiny: bool) -> Path:
    """Stable Diffusion 1.5: UNet of 860 M weights, CLIP ViT-L/14's text half, the usual VAE."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    diffusers: Any = importlib.import_module("diffusers")
    if (folder / "model_index.json").exists():
        return folder
    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    # Words are spelled, which only makes prompts longer; every prompt is 77 tokens in the end.
    tokenizer = CLIPTokenizer(vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=77)
    width = 32 if is_tiny else 768
    text = CLIPTextConfig(
        vocab_size=49_408,
        hidden_size=width,
        intermediate_size=4 * width,
        projection_dim=width,
        num_hidden_layers=2 if is_tiny else 12,
        num_attention_heads=2 if is_tiny else 12,
        max_position_embeddings=77,
        hidden_act="quick_gelu",
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(0)
    with torch.device(device):
        unet = diffusers.UNet2DConditionModel(
            sample_size=8 if is_tiny else 64,
            in_channels=4,
            out_channels=4,
            block_out_channels=(8, 16, 16, 16) if is_tiny else (320, 640, 1280, 1280),
            norm_num_groups=4 if is_tiny else 32,
            layers_per_block=1 if is_tiny else 2,
            attention_head_dim=2 if is_tiny else 8,
            cross_attention_dim=width,
            down_block_types=(*("CrossAttnDownBlock2D",) * 3, "DownBlock2D"),
            up_block_types=("UpBlock2D", *("CrossAttnUpBlock2D",) * 3),
        )
        vae = diffusers.AutoencoderKL(
            in_channels=3,
            out_channels=3,
            latent_channels=4,
            sample_size=64 if is_tiny else 512,
            block_out_channels=(4, 8, 8, 8) if is_tiny else (128, 256, 512, 512),
            norm_num_groups=4 if is_tiny else 32,
            layers_per_block=1 if is_tiny else 2,
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
        )
        text_encoder = CLIPTextModel(text)
    pipeline = diffusers.StableDiffusionPipeline(
        vae=vae,
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        unet=unet,
        scheduler=diffusers.PNDMScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            skip_prk_steps=True,
            steps_offset=1,
            set_alpha_to_one=False,
        ),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    if device.startswith("cuda"):
        pipeline.to(torch.float16)
    pipeline.save_pretrained(folder)
    return folder


def save_florence2(folder: Path, device: str, *, is_tiny: bool) -> Path:
    """Florence-2-base: DaViT-B for the eye, BART-base for the words, 768 px, 577 places for the picture."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    transformers: Any = importlib.import_module("transformers")
    if (folder / "config.json").exists():
        return folder
    special = ["<s>", "<pad>", "</s>", "<unk>", "<image>"]
    places = [f"<loc_{i}>" for i in range(1000)]
    known = [*special, *places, "locate", "the", "objects", "with", "category", "name", "in", "image", "."]
    known += [f"word{i}" for i in range(0 if is_tiny else N_WORDS - len(known))]
    core = Tokenizer(models.WordLevel({token: i for i, token in enumerate(known)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.decoder = decoders.Fuse()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )
    tokenizer.add_tokens(places, special_tokens=True)
    width = 32 if is_tiny else 768
    text = transformers.BartConfig(
        vocab_size=len(known),
        d_model=width,
        encoder_layers=1 if is_tiny else 6,
        decoder_layers=1 if is_tiny else 6,
        encoder_attention_heads=2 if is_tiny else 12,
        decoder_attention_heads=2 if is_tiny else 12,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        max_position_embeddings=1024,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        is_encoder_decoder=True,
    )
    small: dict[str, Any] = {"depths": (1,) * 4, "embed_dim": (8,) * 4, "num_heads": (1,) * 4, "num_groups": (1,) * 4}
    eye = transformers.Florence2VisionConfig(projection_dim=width, **({**small, "window_size": 2} if is_tiny else {}))
    config = transformers.Florence2Config(text_config=text, vision_config=eye, image_token_id=special.index("<image>"))
    torch.manual_seed(0)
    with torch.device(device):
        model = transformers.Florence2ForConditionalGeneration(config)
    side = 64 if is_tiny else 768
    kind = getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor
    image_processor = kind(
        size={"height": side, "width": side},
        do_center_crop=False,
        image_mean=[0.485, 0.456, 0.406],
        image_std=[0.229, 0.224, 0.225],
    )
    image_processor.image_seq_length = (side // 32) ** 2 + 1
    tasks = ("description_with_bboxes", "phrase_grounding", "pure_text", "bboxes")
    processor = transformers.Florence2Processor(
        image_processor=image_processor, tokenizer=tokenizer, post_processor_config={task: {} for task in tasks}
    )
    if device.startswith("cuda"):
        model.to(torch.bfloat16)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
