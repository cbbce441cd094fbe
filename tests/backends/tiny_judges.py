"""Checkpoints of vision-language models, a few numbers wide, that say what a test teaches them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")
tokenizers: Any = pytest.importorskip("tokenizers", reason="needs the extra torch")

SIDE = 8
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "<image>", "<|user|>", "<|assistant|>")


def letter_tokenizer(pieces: Sequence[str] = ()) -> Any:
    """A tokenizer of single bytes, so that any text goes in and comes out; `pieces` are tokens of their own."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate((*SPECIAL, *letters))}
    core = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )
    tokenizer.add_tokens(["<|user|>", "<|assistant|>"], special_tokens=True)
    tokenizer.add_tokens(list(pieces))
    return tokenizer


def save_llava(folder: Path, reply: str, *, chat_template: str | None = TEMPLATE) -> Path:
    """LLaVA: a small CLIP eye and a small Llama that says one thing whatever it sees.

    The reply is a single word of its vocabulary: the last layer says that word after anything but itself, and the end
    after that.
    """
    torch.manual_seed(5)
    tokenizer = letter_tokenizer([reply])
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            image_size=SIDE,
            patch_size=4,
            projection_dim=16,
        ),
        text_config=transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=8192,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
            tie_word_embeddings=False,
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
        image_seq_length=4,
    )
    model = transformers.LlavaForConditionalGeneration(config)
    said = tokenizer.convert_tokens_to_ids(reply)
    _teach(model, said, end=2)
    model.generation_config.eos_token_id = 2
    processor = transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
        ),
        tokenizer=tokenizer,
        patch_size=4,
        vision_feature_select_strategy="default",
        chat_template=chat_template,
        num_additional_image_tokens=1,
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _teach(model: Any, said: int, end: int) -> None:
    """Every word looks alike to the last layer but the taught one, which calls for the end."""
    language = model.model.language_model
    with torch.no_grad():
        for layer in language.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        language.embed_tokens.weight.zero_()
        language.embed_tokens.weight[:, 0] = 1
        language.embed_tokens.weight[said] = 0
        language.embed_tokens.weight[said, 1] = 1
        model.lm_head.weight.zero_()
        model.lm_head.weight[said, 0] = 1
        model.lm_head.weight[end, 1] = 1


def save_blip(folder: Path, answer: str) -> Path:
    """BLIP for question answering that gives one answer whatever it is asked."""
    torch.manual_seed(5)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]", "[ENC]", "is", "there", "a", "cat", "?", answer]
    core = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({word: i for i, word in enumerate(dict.fromkeys(words))}, unk_token="[UNK]")
    )
    core.normalizer = tokenizers.normalizers.Lowercase()
    core.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    core.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = transformers.BertTokenizerFast(tokenizer_object=core, bos_token="[DEC]")
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 16,
        "encoder_hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "max_position_embeddings": 64,
        "projection_dim": 16,
        "bos_token_id": 5,
        "pad_token_id": 0,
        "eos_token_id": 3,
        "sep_token_id": 3,
    }
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 16,
        "patch_size": 8,
    }
    config = transformers.BlipConfig(text_config=text, vision_config=vision, projection_dim=16)
    model = transformers.BlipForQuestionAnswering(config)
    said = tokenizer.convert_tokens_to_ids(answer)
    with torch.no_grad():
        head = model.text_decoder.cls.predictions
        head.decoder.weight.zero_()
        head.decoder.bias.zero_()
        head.decoder.bias[said] = 5
    processor = transformers.BlipProcessor(
        transformers.BlipImageProcessorPil(size={"height": 16, "width": 16}), tokenizer
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
