"""The inspector: browse and review memory in a web browser."""

from memoryware._install import install_command

try:
    from memoryware.inspector._all_groups import every_group
    from memoryware.inspector._app import inspector, serve
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] not in ("itsdangerous", "starlette", "uvicorn"):
        raise
    raise ImportError(
        f"the inspector needs more packages: {install_command('inspector')}"
    ) from error
from memoryware.inspector._signing import Keys
from memoryware.inspector._site import Authenticate, Section, Visit

__all__ = ["Authenticate", "Keys", "Section", "Visit", "every_group", "inspector", "serve"]
