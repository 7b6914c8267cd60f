"""Pages that show a memory, and take decisions about it, in a browser."""

try:
    from memoryware.inspector.app import inspector
    from memoryware.inspector.serving import serve
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] not in ("starlette", "uvicorn"):
        raise
    raise ImportError(
        "the inspector needs starlette and uvicorn: pip install 'memoryware[inspector]'"
    ) from error
from memoryware.inspector.signing import Keys
from memoryware.inspector.site import Authenticate, Section, Visit

__all__ = ["Authenticate", "Keys", "Section", "Visit", "inspector", "serve"]
