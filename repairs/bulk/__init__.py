"""One act on many cases: chosen and frozen, shown case by case, asked for, and carried out by a task of the queue."""
