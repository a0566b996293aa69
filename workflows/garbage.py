"""Makes the collector look at what is new only, in a process that drains. Called once by its task.

A turn makes thousands of rows that live for a moment, and the collector, counting them, walked everything that Django
and the drivers ever made: a third of a busy drain's time went there.
"""

from __future__ import annotations

import functools
import gc

# Objects of containers made, beyond those let go, before the youngest are looked at: several turns' worth. The older
# ones are looked at as rarely again; what has cycles (a traceback, say) is still found.
YOUNG, MIDDLE, OLD = 100_000, 20, 50


@functools.cache
def calm() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
