"""The kind http."""

from workflows.tools.http.tool import HttpTool

__all__ = ["HttpTool"]
