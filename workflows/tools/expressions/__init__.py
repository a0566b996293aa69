"""CEL in manifests and policies: compiled once, names known before, values bound and never pasted, work bounded.

`compile` one expression; `fill` every `${ }` in a JSON value. Everything raises `ExpressionError` and nothing else.
"""

from workflows.tools.expressions.analysis import Path
from workflows.tools.expressions.judge import Judge
from workflows.tools.expressions.programs import Expression, compile, paths  # noqa: A004
from workflows.tools.expressions.templates import OPEN, Template, fill, fill_text, parse, text_of, texts_in
from workflows.tools.expressions.tokens import ExpressionError

__all__ = [
    "OPEN",
    "Expression",
    "ExpressionError",
    "Judge",
    "Path",
    "Template",
    "compile",
    "fill",
    "fill_text",
    "parse",
    "paths",
    "text_of",
    "texts_in",
]
