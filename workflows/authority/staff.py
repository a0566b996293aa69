"""Roles of people that the engine itself knows: those whose word on an effect never counts."""

UNDECIDING = frozenset({"admin", "auditor"})  # who says who may, and who judges afterwards, decide about no effect
