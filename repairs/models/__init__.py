"""What people work on: cases, their acts, and the persons themselves."""

from .act import Act
from .batch import Batch, BatchItem
from .case import Case
from .evidence import Evidence
from .glass import Glass
from .notice import Notice
from .person import Person, PersonAct, SecondFactor
from .presence import Presence
from .remark import Remark
from .saved_view import SavedView
from .worked import Worked

__all__ = [
    "Act",
    "Batch",
    "BatchItem",
    "Case",
    "Evidence",
    "Glass",
    "Notice",
    "Person",
    "PersonAct",
    "Presence",
    "Remark",
    "SavedView",
    "SecondFactor",
    "Worked",
]
