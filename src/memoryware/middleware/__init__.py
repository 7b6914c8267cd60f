"""What plugs into an agent."""

from memoryware.middleware.deep_memory import DeepMemoryMiddleware
from memoryware.middleware.file_tools import FileToolsMiddleware
from memoryware.middleware.memory import MemoryMiddleware

__all__ = ["DeepMemoryMiddleware", "FileToolsMiddleware", "MemoryMiddleware"]
