"""Tools with which an agent works on the files of a backend."""

from memoryware.middleware.file_tools.middleware import (
    FileToolName,
    FileToolsMiddleware,
    FileToolsState,
)

__all__ = ["FileToolName", "FileToolsMiddleware", "FileToolsState"]
