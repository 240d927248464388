"""What is masked in the words of a failure, and what tells two failures apart."""

from __future__ import annotations

import pytest

from ciops.failures.frames import Frame
from ciops.failures.signature import mask, model_names, place, signature

ALIKE = [
    pytest.param("shapes (s28*s19x5120 and 2560x5120)", "shapes (8192x8192 and 4096x2560)", id="x"),
    pytest.param("got [s44*s70, 5120] X [2560, 5120]", "got [u0, 64] X [1280, 64]", id="symbols"),
    pytest.param("input of size 448*s21*s98", "input of size 7168", id="a product"),
    pytest.param("size s70//2 + 1", "size 17", id="a quotient"),
    pytest.param(
        "weight (3072, 8192)", "weight (3072, 8192, 2)", id="another number of dimensions"
    ),
    pytest.param("took longer than 2h0m0s", "took longer than 90 min", id="durations"),
    pytest.param("needs torch 2.7.1+cu128", "needs torch v2.8", id="versions"),
    pytest.param("pid 4711 at 0x7ffe12", "pid 12 at 0xdeadbeef00", id="pid and address"),
    pytest.param("rank 3: no reply", "rank 0: no reply", id="ranks"),
    pytest.param("lost pool0-00412", "lost gpu-a-017.cluster.local", id="hosts"),
    pytest.param("failure on node lyris0412", "failure on node onyx7", id="hosts by context"),
    pytest.param("at 10.0.3.17:29500", "at 192.168.0.1:80", id="IP addresses"),
    pytest.param("seed=17 failed after 3.2 s", "seed=9321 failed after 12 ms", id="seed and time"),
    pytest.param("open /tmp/a8f3k2/x.json", "open /scratch/u7/r/x.json", id="folders"),
    pytest.param("https://a.example/1?q=2", "https://b.example/zzz", id="URLs"),
    pytest.param("'acme/news_v4' is gone", "'other-lab/X-7B' is gone", id="names on a hub"),
    pytest.param(
        "missing ['layers.0.up', 'layers.1.up', 'layers.2.up']",
        "missing ['layers.0.up', 'layers.1.up']",
        id="as many as the model is deep",
    ),
    pytest.param("no class for QwenConfig", "no class for Phi4MMConfig", id="classes of models"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_varies_is_masked(one: str, other: str) -> None:
    assert mask(one) == mask(other)


APART = [
    pytest.param("KeyError: 'factor'", "KeyError: 'base'", id="keys"),
    pytest.param("Could not run 'aten::mm'", "Could not run 'aten::bmm'", id="operators"),
    pytest.param("open /a/x.json", "open /a/y.json", id="files"),
    pytest.param("No module named 'timm'", "No module named 'mamba_ssm'", id="modules"),
    pytest.param("missing ['up', 'gate']", "missing ['up']", id="another key missing"),
    pytest.param("in test_gear FAILED", "in test_wheel FAILED", id="tests"),
    pytest.param("defaced header", "decoded header", id="words of hexadecimal letters"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_identifies_is_kept(one: str, other: str) -> None:
    assert mask(one) != mask(other)


MODELS = [
    pytest.param("lab/Gear-7B", "loading lab/Gear-7B fails", "loading <model> fails", id="whole"),
    pytest.param("lab/Gear-7B", "cannot build gear-7b", "cannot build <model>", id="another case"),
    pytest.param("lab/test", "pytest and test", "pytest and <model>", id="not inside a word"),
    pytest.param(None, "as it was", "as it was", id="no model"),
]


@pytest.mark.parametrize(("model", "text", "masked"), MODELS)
def test_the_model_is_masked(model: str | None, text: str, masked: str) -> None:
    assert mask(text, model_names(model)) == masked


def test_one_sentence_from_two_files_is_two_failures() -> None:
    said = [
        signature("AssertionError", "scale must be contiguous", place(None, [frame]))
        for frame in (Frame("/srv/a/linear.py", 3, "pack"), Frame("/srv/a/moe.py", 3, "pack"))
    ]
    assert said[0] != said[1]


PLACES = [
    pytest.param("/tmp/tmpab12cd_x/src/pump.py", "/tmp/tmp9zz8yy_q/src/pump.py", id="temporary"),
    pytest.param("/scratch/5512888/run/pump.py", "/scratch/5513001/run/pump.py", id="of a job"),
    pytest.param("/tmp/pip-req-build-8f3a9c1x/setup.py", "/tmp/pip-req-build-q7w2e3r4/setup.py",
                 id="of a build"),
    pytest.param("/tmp/torchinductor_root/ab/cabx3.py", "/tmp/torchinductor_ci/zz/c9q.py",
                 id="compiled"),
    pytest.param("/cache/transformers_modules/a/b/c1/modeling_b.py",
                 "/cache/transformers_modules/d/e/f2/modeling_e.py", id="of a model"),
    pytest.param("/usr/lib/python3.10/site-packages/gear/pump.py",
                 "/opt/venv/lib/python3.12/dist-packages/gear/pump.py", id="installed"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PLACES)
def test_where_it_was_raised_is_the_same_place(one: str, other: str) -> None:
    places = {place(None, [Frame(path, 3, "turn")]) for path in (one, other)}
    assert len(places) == 1
    assert "turn" in places.pop()


def test_a_line_number_does_not_tell_failures_apart() -> None:
    said = {
        signature("E", "words", place(None, [Frame("/srv/a/linear.py", line, "pack")]))
        for line in (3, 300)
    }
    assert len(said) == 1


@pytest.mark.parametrize("text", ["x" * 100_000, "1x" * 50_000, "a, " * 30_000, "[(" * 30_000])
def test_long_texts_are_masked_in_no_time(text: str) -> None:
    assert len(mask(text)) <= 300
