"""Roles of people that the engine itself knows: whose word on an effect never counts, and who may act for two."""

UNDECIDING = frozenset({"admin", "auditor"})  # who says who may, and who judges afterwards, decide about no effect
EMERGENCY = (
    "emergency"  # alone does what takes two, where their other roles let them do either part; reviewed afterwards
)
