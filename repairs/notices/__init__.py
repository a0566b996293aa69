"""Telling people outside the console: rows are written with what causes them, and sent by a task of the queue."""
