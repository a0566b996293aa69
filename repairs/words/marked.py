"""What marks texts for translators, as words know it: the engine's refusals, which pages show too, are made of it."""

from __future__ import annotations

from workflows.marked import Phrase, _, listed, ngettext, said, speaks

__all__ = ["Phrase", "_", "listed", "ngettext", "said", "speaks"]
