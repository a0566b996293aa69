"""The kind caldav."""

from workflows.tools.caldav.tool import CalDavTool

__all__ = ["CalDavTool"]
