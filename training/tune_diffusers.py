"""Tunes a LoRA of a Stable Diffusion 1.x, 2.x or XL checkpoint on what `salva export` selected from a run.

    python training/tune_diffusers.py MODEL --sft FOLDER --out OUT
    python training/tune_diffusers.py MODEL --dpo FILE.parquet --part text --out OUT

MODEL is a folder or a name on the hub, in the layout of diffusers. OUT gets pytorch_lora_weights.safetensors, for
`--set model.lora=OUT/pytorch_lora_weights.safetensors`. What is not given is as SemVarBench has it (appendix D.3): rank
4, 5,000 steps of one example.

sft        the mean squared error of what the network predicts, on right images.
dpo        Diffusion-DPO (Wallace et al. 2023): for a caption with a better image w and a worse one l, with one time and
           one noise for both, and with e the error with the LoRA and e0 the error without it,

               loss = -log sigmoid(-beta / 2 * ((e(w) - e0(w)) - (e(l) - e0(l))))

Images are never mirrored: that would make a cat left of a dog contradict its caption.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import diffusers as _diffusers
import numpy as np
import torch
from peft import LoraConfig
from peft.utils import get_peft_model_state_dict
from PIL import Image
from torch import Tensor
from torch.nn import functional

diffusers: Any = _diffusers
TARGETS = {
    "unet": ["to_q", "to_k", "to_v", "to_out.0"],
    "text": ["q_proj", "k_proj", "v_proj", "out_proj"],
}
SHOWN_EVERY = 50


class Example(NamedTuple):
    """A caption with a right image, and for dpo one that is less right."""

    caption: str
    image: bytes
    worse: bytes | None = None


def read_sft(folder: Path) -> list[Example]:
    """What `salva export --as sft` wrote."""
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text("utf-8").splitlines()]
    return [Example(row["text"], (folder / row["file_name"]).read_bytes()) for row in rows]


def read_dpo(path: Path) -> list[Example]:
    """What `salva export --as dpo` wrote."""
    import pyarrow.parquet as pq

    rows = pq.read_table(path, columns=["caption", "chosen", "rejected"]).to_pylist()
    return [Example(row["caption"], row["chosen"]["bytes"], row["rejected"]["bytes"]) for row in rows]


class Tuner:
    """A pipeline with a LoRA in its network or in its text encoders."""

    def __init__(self, model: str, part: str, rank: int, side: int, device: str, seed: int) -> None:
        torch.manual_seed(seed)
        self.pipeline: Any = diffusers.DiffusionPipeline.from_pretrained(model).to(device)
        if not hasattr(self.pipeline, "unet"):
            raise SystemExit(f"{model} is a {type(self.pipeline).__name__}; this script tunes those with a UNet")
        self.device, self.part = device, part
        self.unet, self.vae = self.pipeline.unet, self.pipeline.vae
        self.schedule: Any = diffusers.DDPMScheduler.from_config(self.pipeline.scheduler.config)
        self.side = side or self.unet.config.sample_size * self.pipeline.vae_scale_factor
        encoders = [self.pipeline.text_encoder, getattr(self.pipeline, "text_encoder_2", None)]
        self.encoders = [encoder for encoder in encoders if encoder is not None]
        self.tuned = [self.unet] if part == "unet" else self.encoders
        for module in (self.unet, self.vae, *self.encoders):
            module.requires_grad_(False)
        config = LoraConfig(r=rank, lora_alpha=rank, init_lora_weights="gaussian", target_modules=TARGETS[part])
        for module in self.tuned:
            module.add_adapter(config)
        self.random = torch.Generator().manual_seed(seed)

    def weights(self) -> list[Tensor]:
        """What learns."""
        return [weight for module in self.tuned for weight in module.parameters() if weight.requires_grad]

    def use_lora(self, is_used: bool) -> None:
        """With the LoRA, or as the checkpoint was."""
        for module in self.tuned:
            (module.enable_adapters if is_used else module.disable_adapters)()

    def sft_loss(self, examples: Sequence[Example]) -> Tensor:
        """The error on right images."""
        latents = self._latents([example.image for example in examples])
        return self._errors(latents, *self._noise(latents), [example.caption for example in examples]).mean()

    def dpo_loss(self, examples: Sequence[Example], beta: float) -> Tensor:
        """The loss of the module's docstring."""
        margin = self.margin(examples)
        return -functional.logsigmoid(beta / 2 * margin).mean()

    def margin(self, examples: Sequence[Example]) -> Tensor:
        """How much more the LoRA has gained on the better image than on the worse one [n]."""
        better = self._latents([example.image for example in examples])
        worse = self._latents([example.worse or b"" for example in examples])
        noise, times = self._noise(better)
        both = torch.cat([better, worse]), torch.cat([noise, noise]), torch.cat([times, times])
        captions = [example.caption for example in examples] * 2
        after = self._errors(*both, captions)
        self.use_lora(False)
        with torch.no_grad():
            before = self._errors(*both, captions)
        self.use_lora(True)
        of_better, of_worse = (before - after).chunk(2)
        return of_better - of_worse

    def save(self, out: Path) -> None:
        """Write the LoRA in the layout of diffusers."""
        renamed = diffusers.utils.convert_state_dict_to_diffusers
        states = [renamed(get_peft_model_state_dict(module)) for module in self.tuned]
        names = ["unet"] if self.part == "unet" else ["text_encoder", "text_encoder_2"]
        layers = {f"{name}_lora_layers": state for name, state in zip(names, states, strict=False)}
        self.pipeline.save_lora_weights(out, **layers)

    def _errors(self, latents: Tensor, noise: Tensor, times: Tensor, captions: Sequence[str]) -> Tensor:
        """The mean squared error of the prediction, for each image [n]."""
        noisy = self.schedule.add_noise(latents, noise, times)
        predicted = self.unet(noisy, times, **self._conditions(captions)).sample
        kind = self.schedule.config.prediction_type
        truth = noise if kind == "epsilon" else self.schedule.get_velocity(latents, noise, times)
        errors: Tensor = (predicted.float() - truth.float()).square().mean((1, 2, 3))
        return errors

    def _conditions(self, captions: Sequence[str]) -> dict[str, Any]:
        encoded = self.pipeline.encode_prompt(
            prompt=list(captions), device=self.device, num_images_per_prompt=1, do_classifier_free_guidance=False
        )
        if len(self.encoders) == 1:
            return {"encoder_hidden_states": encoded[0]}
        size = torch.tensor([[self.side, self.side, 0, 0, self.side, self.side]] * len(captions), device=self.device)
        added = {"text_embeds": encoded[2], "time_ids": size.to(encoded[0].dtype)}
        return {"encoder_hidden_states": encoded[0], "added_cond_kwargs": added}

    def _noise(self, latents: Tensor) -> tuple[Tensor, Tensor]:
        noise = torch.randn(latents.shape, generator=self.random)
        times = torch.randint(0, self.schedule.config.num_train_timesteps, (len(latents),), generator=self.random)
        return noise.to(self.device), times.to(self.device)

    def _latents(self, files: Sequence[bytes]) -> Tensor:
        images = [Image.open(io.BytesIO(data)).convert("RGB").resize((self.side, self.side)) for data in files]
        pixels = torch.from_numpy(np.stack([np.asarray(image) for image in images])).to(self.device)
        with torch.no_grad():
            coded = self.vae.encode(pixels.permute(0, 3, 1, 2).float() / 127.5 - 1).latent_dist.mean
        latents: Tensor = coded * self.vae.config.scaling_factor
        return latents


def main() -> None:
    """Tune, and save the LoRA."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--sft", type=Path)
    data.add_argument("--dpo", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", choices=tuple(TARGETS), default="unet")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--beta", type=float, default=5000.0, help="dpo: how sharply a preference is judged")
    parser.add_argument("--side", type=int, default=0, help="pixels; default: the checkpoint's own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    examples = read_sft(args.sft) if args.sft else read_dpo(args.dpo)
    tuner = Tuner(args.model, args.part, args.rank, args.side, args.device, args.seed)
    optimiser = torch.optim.AdamW(tuner.weights(), lr=args.rate)
    order = np.random.default_rng(args.seed)
    losses: list[float] = []
    for step in range(1, args.steps + 1):
        batch = [examples[i] for i in order.integers(len(examples), size=args.batch)]
        loss = tuner.sft_loss(batch) if args.sft else tuner.dpo_loss(batch, args.beta)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's
        optimiser.step()
        losses.append(loss.item())
        if step % SHOWN_EVERY == 0 or step == args.steps:
            print(f"step {step}: loss {np.mean(losses[-SHOWN_EVERY:]):.4f}", flush=True)
    tuner.save(args.out)


if __name__ == "__main__":
    main()
