"""Hands messages to the library that knows mail, chat and web hooks; the one file that does. Nothing here reads rows.

The library logs addresses, so its log is shut (`config.settings`), and only our own words about a failure are kept.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
import warnings
from collections.abc import Mapping
from types import ModuleType

from config.notices import Receiver

CONNECT = READ = 4.0  # seconds; a receiver that is slower is asked again later
WITHIN = 10.0  # seconds for all receivers together: a task of the queue holds a worker no longer

Message = tuple[str, str]  # title and text


def deliver(messages: Mapping[Receiver, Message], *, within: float | None = None) -> dict[Receiver, str]:
    """To each receiver side by side; what kept it from being told, "" where nothing did.

    Who hasn't answered in time counts as not told. Its thread is left behind and may still tell it: a second message
    is better than none.
    """
    library()
    within = WITHIN if within is None else within
    answers: queue.SimpleQueue[tuple[Receiver, str]] = queue.SimpleQueue()
    for receiver, message in messages.items():
        threading.Thread(target=_say, args=(receiver, message, answers), daemon=True, name="notice").start()
    said = dict.fromkeys(messages, f"No answer came within {within:g} s.")
    end, open_ = time.monotonic() + within, len(messages)
    while open_:
        try:
            receiver, said_by = answers.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
        said[receiver] = said_by
        open_ -= 1
    return said


def _say(receiver: Receiver, message: Message, answers: queue.SimpleQueue[tuple[Receiver, str]]) -> None:
    answers.put((receiver, send(receiver, *message)))


def send(receiver: Receiver, title: str, text: str) -> str:
    apprise = library()
    try:
        asset = apprise.AppriseAsset(
            app_id="Makegood", app_desc="Makegood", app_url="", image_url_mask="", image_url_logo="", async_mode=False,
            storage_mode=apprise.PersistentStoreMode.MEMORY,
        )  # fmt: skip
        service = apprise.Apprise.instantiate(receiver.url, asset=asset, suppress_exceptions=True)
        if service is None:
            return f"The address of {receiver} is none that the library apprise understands."
        service.socket_connect_timeout, service.socket_read_timeout = CONNECT, READ
        told = service.notify(body=text, title=title, body_format=apprise.NotifyFormat.TEXT)
    except Exception as error:  # a plugin among a hundred; its words may hold the address, its type can't
        return f"Sending by {receiver.scheme} broke off: {type(error).__name__}."
    return "" if told else f"{receiver.scheme} could not be reached, or refused."


@functools.cache
def library() -> ModuleType:
    """Loaded when first needed, before any thread, for it takes long; Python 3.11 warns of a module that it uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import apprise

        apprise.Apprise.instantiate("json://localhost")
    return apprise
