"""CEL in manifests and policies: compiled once, names known before, values bound and never pasted, work bounded.

`compile` one expression; `fill` every `${ }` in a JSON value. Everything raises `ExpressionError` and nothing else.
"""

from workflows.tools.expressions.programs import Expression, compile  # noqa: A004
from workflows.tools.expressions.templates import Template, fill, fill_text, parse, text_of, texts_in
from workflows.tools.expressions.tokens import ExpressionError

__all__ = [
    "Expression",
    "ExpressionError",
    "Template",
    "compile",
    "fill",
    "fill_text",
    "parse",
    "text_of",
    "texts_in",
]
