"""The inspector: browse and review memory in a web browser."""

try:
    from memoryware.inspector._app import inspector, serve
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] not in ("itsdangerous", "starlette", "uvicorn"):
        raise
    raise ImportError(
        "the inspector needs more packages: pip install 'memoryware[inspector]'"
    ) from error
from memoryware.inspector._signing import Keys
from memoryware.inspector._site import Authenticate, Section, Visit

__all__ = ["Authenticate", "Keys", "Section", "Visit", "inspector", "serve"]
