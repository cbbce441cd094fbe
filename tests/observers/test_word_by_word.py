"""Attention of single words equals that of transformers, and is used in models that write text."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from backends.tiny_judges import save_llava
from backends.tiny_models import save_florence2
from hypothesis import given, settings
from hypothesis import strategies as st

from salva.observers.word_by_word import NAME, attend, attend_word_by_word

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 3),
    n_key_heads=st.integers(1, 3),
    n_shared=st.integers(1, 3),
    n_words=st.integers(1, 2),
    n_heard=st.integers(2, 9),
    kind=st.sampled_from(["none", "bool", "float", "one for all heads"]),
    scaling=st.sampled_from([None, 0.3]),
    seed=st.integers(0, 2**16),
)
def test_attention_equals_that_of_transformers(
    n: int, n_key_heads: int, n_shared: int, n_words: int, n_heard: int, kind: str, scaling: float | None, seed: int
) -> None:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    source = torch.Generator().manual_seed(seed)
    n_heads = n_key_heads * n_shared
    query = torch.randn(n, n_words, n_heads, 8, generator=source).transpose(1, 2)
    key, value = torch.randn(2, n, n_key_heads, n_heard, 8, generator=source)
    mask = None
    if kind != "none":
        shape = (n, 1 if kind == "one for all heads" else n_heads, n_words, n_heard)
        mask = torch.rand(shape, generator=source) < 0.6
        mask[..., 0] = True
        if kind == "float":
            mask = torch.where(mask, torch.randn(shape, generator=source), -1e9)
    module: Any = SimpleNamespace(num_key_value_groups=n_shared, is_causal=False)
    ours, _ = attend(module, query, key, value, mask, scaling=scaling, dropout=0.0)
    theirs, _ = sdpa_attention_forward(module, query, key, value, mask, scaling=scaling, dropout=0.0)
    assert ours.shape == theirs.shape == (n, n_words, n_heads, 8)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["florence2", "llava"])
def test_generated_texts_do_not_change(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "florence2":
        folder, name = save_florence2(tmp_path / kind), "Florence2ForConditionalGeneration"
    else:
        folder, name = save_llava(tmp_path / kind, "yes"), "LlavaForConditionalGeneration"
    model = getattr(transformers, name).from_pretrained(folder).eval()
    calls: list[int] = []

    def counted(module: Any, query: Any, *rest: Any, **given: Any) -> Any:
        calls.append(query.shape[2])
        return attend(module, query, *rest, **given)

    monkeypatch.setattr("salva.observers.word_by_word.attend", counted)
    words = torch.tensor([[3, 5, 4, 6], [7, 3, 3, 8]])
    told = {"max_new_tokens": 6, "do_sample": False, "num_beams": 2}

    def written() -> Any:
        # Without a picture: what writes is the part that counts here.
        with torch.inference_mode():
            return model.generate(input_ids=words, attention_mask=torch.ones_like(words), **told)

    before = written()
    attend_word_by_word(model, "cpu")
    assert torch.equal(written(), before)
    assert not calls, "on the processor nothing is changed"
    attend_word_by_word(model, "cuda:0")
    assert model.config.text_config._attn_implementation == NAME
    assert torch.equal(written(), before)
    assert 1 in calls
    seen = getattr(model.config, "vision_config", None)
    assert getattr(seen, "_attn_implementation", "sdpa") != NAME
