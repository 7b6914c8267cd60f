"""Embedding models given as texts."""

from __future__ import annotations

import re
import sys

import pytest

from memoryware import TieredMemory
from memoryware._install import install_command
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.local import LocalEmbeddings
from memoryware.tiers import NearDuplicate
from tiers.kit import DOORS

pytestmark = pytest.mark.parametrize("door", DOORS)


async def opened(door, url, **options):
    if door == "native":
        return await TieredMemory.aopen(url, **options)
    return TieredMemory.open(url, **options)


async def test_local_is_the_model_that_comes_along(door):
    memory = await opened(door, "memory://", embeddings="local")
    assert isinstance(memory.parts.embedder.embeddings, LocalEmbeddings)
    assert memory.parts.embedder.name == "all-MiniLM-L6-v2-int8"
    memory.promote("The purchases are kept in PostgreSQL.", "shop", by="ann")
    memory.promote("Cows eat grass.", "shop", by="ann")
    found = memory.retrieve("which database holds our orders?", "shop")
    assert found[0].content == "The purchases are kept in PostgreSQL."
    assert found[0].similarity > 0.3
    memory.close()


async def test_the_store_knows_the_model_again_however_it_is_given(door, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    memory = await opened(door, url, embeddings="local")
    memory.promote("The purchases are kept in PostgreSQL.", "shop", by="ann")
    memory.close()
    again = await opened(door, url, embeddings=LocalEmbeddings())
    again.close()


async def test_a_provider_of_langchain_is_asked_for_its_model(door, tmp_path, monkeypatch):
    (tmp_path / "langchain_cohere.py").write_text(
        "from langchain_core.embeddings import DeterministicFakeEmbedding\n"
        "class CohereEmbeddings(DeterministicFakeEmbedding):\n"
        "    size: int = 8\n"
        "    model: str\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    memory = await opened(door, "memory://", embeddings="cohere:embed-v4.0")
    assert memory.parts.embedder.name == "embed-v4.0"
    assert memory.promote("The orders are in PostgreSQL.", "shop", by="ann").ids
    memory.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai:text-embedding-3-small", "pip install langchain-openai"),
        ("nobody:model", "Provider 'nobody' is not supported"),
        (
            "lokal",
            'must be "local", "local:multilingual", "provider:model" or a LangChain Embeddings object',
        ),
        ("", 'must be "local"'),
        (":model", 'must be "local"'),
        ("openai: ", 'must be "local"'),
        (7, 'must be "local"'),
    ],
)
async def test_what_names_no_model_says_what_to_do_and_leaves_no_file(door, name, said, tmp_path):
    with pytest.raises(SettingError) as refused:
        await opened(door, f"sqlite:///{tmp_path}/memory.db", embeddings=name)
    assert str(refused.value).startswith("embeddings=")
    assert said in str(refused.value)
    if isinstance(name, str):
        assert list(tmp_path.iterdir()) == []


async def test_a_package_that_is_missing_leaves_no_file(door, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(SettingError, match=re.escape(install_command("local"))):
        await opened(door, f"sqlite:///{tmp_path}/memory.db", embeddings="local")
    assert list(tmp_path.iterdir()) == []


async def test_what_a_provider_says_is_not_in_the_message(door, tmp_path, monkeypatch):
    (tmp_path / "langchain_mistralai.py").write_text(
        "def MistralAIEmbeddings(model):\n    raise RuntimeError('the key sk-1234 is wrong')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SettingError, match="RuntimeError, which is the cause") as refused:
        await opened(door, "memory://", embeddings="mistralai:embed")
    assert "sk-1234" not in str(refused.value)
    assert "sk-1234" in str(refused.value.__cause__)


async def test_a_damaged_file_says_what_to_do_through_the_memory(door, tmp_path):
    copy = tmp_path / "model.onnx"
    copy.write_bytes(bytes(LocalEmbeddings()._file.stat().st_size))
    memory = await opened(door, "memory://", embeddings=LocalEmbeddings(copy))
    assert memory.promote("The orders are in PostgreSQL.", "shop", by="ann").unembedded
    with pytest.raises(EmbeddingFailed, match="--force-reinstall"):
        memory.reindex()
    with pytest.raises(EmbeddingFailed, match="--force-reinstall"):
        await memory.areindex()
    assert len(memory.retrieve("Where are the orders?", "shop")) == 1
    memory.close()


async def test_near_duplicates_are_looked_for_by_a_named_model(door):
    memory = await opened(door, "memory://", filters=[NearDuplicate("local", least=0.9)])
    first = memory.record("Every night the backup of the shop is copied to Graz.", "shop")
    again = memory.record("The backup of the shop is copied to Graz every night.", "shop")
    assert (first.refused, again.refused) == (None, "near_duplicate")
    memory.close()


@pytest.mark.parametrize("wrong", ["lokal", "nobody:model", object()])
async def test_a_filter_refuses_what_names_no_model(door, wrong):
    with pytest.raises(SettingError, match=r"^embeddings="):
        NearDuplicate(wrong)
