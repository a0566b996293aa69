"""The stepped clock, for schedules."""

from tests.clock import clock

__all__ = ["clock"]
