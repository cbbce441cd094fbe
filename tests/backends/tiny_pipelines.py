"""Checkpoints of the very classes people use, a few channels wide, with random weights; the same on every machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from backends.tiny_judges import letter_tokenizer
from tokenizers.pre_tokenizers import ByteLevel

SIDE = 32
"""Pixels; 16 latents at the tiny decoders' factor of two."""
_WIDTH = 32


def save_stable_diffusion(folder: Path, *, has_checker: bool = False, sample_size: int = SIDE // 2) -> Path:
    """Stable Diffusion 1.x; the checker flags everything, since its thresholds are at the floor."""
    diffusers = _library()
    from transformers import CLIPConfig, CLIPImageProcessor

    torch.manual_seed(0)
    checker = None
    if has_checker:
        from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker

        small: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
        vision = {**small, "num_attention_heads": 2, "image_size": 32, "patch_size": 16}
        text = {**small, "num_attention_heads": 2, "vocab_size": 10}
        checker = StableDiffusionSafetyChecker(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
        checker.concept_embeds_weights.data.fill_(-2.0)
    diffusers.StableDiffusionPipeline(
        vae=_vae(diffusers),
        text_encoder=_clip_text(),
        tokenizer=spelling_tokenizer(),
        unet=_unet(diffusers, sample_size),
        scheduler=diffusers.PNDMScheduler(skip_prk_steps=True, steps_offset=1, beta_schedule="scaled_linear"),
        safety_checker=checker,
        feature_extractor=CLIPImageProcessor(size=32, crop_size=32) if has_checker else None,
        requires_safety_checker=has_checker,
    ).save_pretrained(folder)
    return folder


def save_sdxl(folder: Path) -> Path:
    """Stable Diffusion XL."""
    diffusers = _library()

    torch.manual_seed(0)
    diffusers.StableDiffusionXLPipeline(
        vae=_vae(diffusers),
        text_encoder=_clip_text(),
        text_encoder_2=_clip_text(with_projection=True),
        tokenizer=spelling_tokenizer(),
        tokenizer_2=spelling_tokenizer(),
        unet=_unet(
            diffusers,
            SIDE // 2,
            cross_attention_dim=2 * _WIDTH,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + _WIDTH,
        ),
        scheduler=diffusers.EulerDiscreteScheduler(beta_schedule="scaled_linear", timestep_spacing="leading"),
    ).save_pretrained(folder)
    return folder


def save_flux(folder: Path, *, is_guided: bool = True) -> Path:
    """Flux; not guided is its distilled sibling."""
    diffusers = _library()

    torch.manual_seed(0)
    diffusers.FluxPipeline(
        vae=_vae(diffusers, latent_channels=4, shift_factor=0.1, use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=_clip_text(),
        text_encoder_2=_t5_text(),
        tokenizer=spelling_tokenizer(),
        tokenizer_2=_t5_tokenizer(),
        transformer=diffusers.FluxTransformer2DModel(
            patch_size=1,
            in_channels=16,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=_WIDTH,
            pooled_projection_dim=_WIDTH,
            axes_dims_rope=(4, 4, 8),
            guidance_embeds=is_guided,
        ),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
    ).save_pretrained(folder)
    return folder


def save_sd3(folder: Path) -> Path:
    """Stable Diffusion 3."""
    diffusers = _library()

    torch.manual_seed(0)
    diffusers.StableDiffusion3Pipeline(
        vae=_vae(diffusers, shift_factor=0.1, use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=_clip_text(with_projection=True),
        text_encoder_2=_clip_text(with_projection=True),
        text_encoder_3=_t5_text(2 * _WIDTH),
        tokenizer=spelling_tokenizer(),
        tokenizer_2=spelling_tokenizer(),
        tokenizer_3=_t5_tokenizer(),
        transformer=diffusers.SD3Transformer2DModel(
            sample_size=SIDE // 2,
            patch_size=1,
            in_channels=4,
            out_channels=4,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            joint_attention_dim=2 * _WIDTH,
            caption_projection_dim=32,
            pooled_projection_dim=2 * _WIDTH,
        ),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
    ).save_pretrained(folder)
    return folder


def save_pixart(folder: Path) -> Path:
    """PixArt-Sigma."""
    diffusers = _library()

    torch.manual_seed(0)
    diffusers.PixArtSigmaPipeline(
        tokenizer=_t5_tokenizer(),
        text_encoder=_t5_text(),
        vae=_vae(diffusers),
        transformer=diffusers.PixArtTransformer2DModel(
            sample_size=SIDE // 2,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=2,
            caption_channels=_WIDTH,
            in_channels=4,
            out_channels=8,
            cross_attention_dim=16,
            use_additional_conditions=False,
        ),
        scheduler=diffusers.DPMSolverMultistepScheduler(),
    ).save_pretrained(folder)
    return folder


def save_sana(folder: Path) -> Path:
    """Sana, which reads with Gemma."""
    from transformers import Gemma2Config, Gemma2Model

    diffusers = _library()

    torch.manual_seed(0)
    tokenizer = letter_tokenizer()
    diffusers.SanaPipeline(
        tokenizer=tokenizer,
        text_encoder=Gemma2Model(
            Gemma2Config(
                hidden_size=_WIDTH,
                intermediate_size=_WIDTH,
                head_dim=16,
                num_attention_heads=2,
                num_key_value_heads=2,
                num_hidden_layers=1,
                vocab_size=len(tokenizer),
            )
        ),
        vae=diffusers.AutoencoderDC(
            in_channels=3,
            latent_channels=4,
            attention_head_dim=2,
            encoder_block_types=("ResBlock", "EfficientViTBlock"),
            decoder_block_types=("ResBlock", "EfficientViTBlock"),
            encoder_block_out_channels=(8, 8),
            decoder_block_out_channels=(8, 8),
            encoder_qkv_multiscales=((), (5,)),
            decoder_qkv_multiscales=((), (5,)),
            encoder_layers_per_block=(1, 1),
            decoder_layers_per_block=(1, 1),
            downsample_block_type="conv",
            upsample_block_type="interpolate",
        ),
        transformer=diffusers.SanaTransformer2DModel(
            sample_size=SIDE // 2,
            patch_size=1,
            in_channels=4,
            out_channels=4,
            num_layers=1,
            num_attention_heads=2,
            attention_head_dim=4,
            num_cross_attention_heads=2,
            cross_attention_head_dim=4,
            cross_attention_dim=8,
            caption_channels=_WIDTH,
        ),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0),
    ).save_pretrained(folder)
    return folder


def save_qwen_image(folder: Path) -> Path:
    """Qwen-Image, which reads with Qwen2.5-VL."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    diffusers = _library()

    torch.manual_seed(0)
    tokenizer = letter_tokenizer()
    text = {
        "hidden_size": _WIDTH,
        "intermediate_size": _WIDTH,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "rope_parameters": {"mrope_section": [2, 2, 4], "rope_type": "default", "rope_theta": 1000000.0},
        "vocab_size": len(tokenizer),
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
    reader: Any = Qwen2_5_VLForConditionalGeneration
    eye = {"depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "out_hidden_size": _WIDTH}
    diffusers.QwenImagePipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=diffusers.AutoencoderKLQwenImage(
            base_dim=24,
            z_dim=4,
            dim_mult=[1, 2],
            num_res_blocks=1,
            temperal_downsample=[False],
            latents_mean=[0.0] * 4,
            latents_std=[1.0] * 4,
        ),
        text_encoder=reader(Qwen2_5_VLConfig(text_config=text, vision_config=eye)),
        tokenizer=tokenizer,
        transformer=diffusers.QwenImageTransformer2DModel(
            in_channels=16,
            out_channels=4,
            num_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=_WIDTH,
            axes_dims_rope=(8, 4, 4),
        ),
    ).save_pretrained(folder)
    return folder


def save_unconditional(folder: Path) -> Path:
    """A pipeline that makes no pictures from text: it turns noise alone into them."""
    diffusers = _library()

    torch.manual_seed(0)
    unet = diffusers.UNet2DModel(
        sample_size=8,
        block_out_channels=(16, 16),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "UpBlock2D"),
    )
    diffusers.DDPMPipeline(unet=unet, scheduler=diffusers.DDPMScheduler()).save_pretrained(folder)
    return folder


def _library() -> Any:
    import diffusers

    return diffusers


def _unet(diffusers: Any, sample_size: int, **more: Any) -> Any:
    settings: dict[str, Any] = {
        "sample_size": sample_size,
        "block_out_channels": (16, 32),
        "norm_num_groups": 4,
        "layers_per_block": 1,
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
        "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
        "cross_attention_dim": _WIDTH,
        "attention_head_dim": 2,
    }
    return diffusers.UNet2DConditionModel(**{**settings, **more})


def _vae(diffusers: Any, **more: Any) -> Any:
    return diffusers.AutoencoderKL(
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        **{"latent_channels": 4, **more},
    )


def _clip_text(with_projection: bool = False) -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    tokenizer = spelling_tokenizer()
    config = CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=_WIDTH,
        intermediate_size=_WIDTH,
        projection_dim=_WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return (CLIPTextModelWithProjection if with_projection else CLIPTextModel)(config)


def spelling_tokenizer() -> Any:
    """CLIP's, with every word spelled: the alphabet and no merges."""
    from transformers import CLIPTokenizer

    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=77)


def _t5_text(width: int = _WIDTH) -> Any:
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(
        T5Config(vocab_size=len(_t5_tokenizer()), d_model=width, d_ff=width, d_kv=8, num_layers=1, num_heads=2)
    )


def _t5_tokenizer() -> Any:
    from transformers import T5Tokenizer

    pieces = ["<pad>", "</s>", "<unk>", "▁", *"abcdefghijklmnopqrstuvwxyz.,"]
    return T5Tokenizer(vocab=[(piece, -float(i)) for i, piece in enumerate(pieces)], extra_ids=0, model_max_length=64)
