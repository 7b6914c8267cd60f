"""What plugs into an agent."""

from memoryware.middleware.file_tools import FileToolsMiddleware
from memoryware.middleware.memory import DeepMemoryMiddleware, MemoryMiddleware

__all__ = ["DeepMemoryMiddleware", "FileToolsMiddleware", "MemoryMiddleware"]
