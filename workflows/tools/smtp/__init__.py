"""The kind smtp."""

from workflows.tools.smtp.tool import SmtpTool

__all__ = ["SmtpTool"]
