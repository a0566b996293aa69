"""Manifests: `load` reads, checks and normalises whole files; `digest` names a spec. Nothing here writes."""

from workflows.tools.manifest.load import Manifest, digest, load, load_texts

__all__ = ["Manifest", "digest", "load", "load_texts"]
