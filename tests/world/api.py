"""The lying provider's API over any collection, `/contacts` say: a request and a plan give a change and a reply."""

from __future__ import annotations

import dataclasses
import threading
import time
import urllib.parse
from collections.abc import Callable
from typing import Any

from tests.world.book import Book, Object, Remembered, Wire
from tests.world.switches import Switch

Json = Any
# How long a twin under the same honoured key waits for the first to be answered.
TWIN_WAIT = 30.0
PAGE = 2  # objects


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What to answer, and the change that the answer speaks of; the server makes it when the plan says."""

    status: int
    body: Json = None
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    change: Callable[[], None] | None = None
    remembered: Remembered | None = None


def handle(book: Book, wire: Wire, plan: Switch) -> Reply:
    """Never changes anything by itself, but for what the plan plants or takes away behind the caller's back."""
    url = urllib.parse.urlsplit(wire.target)
    collection, _, wanted = url.path.strip("/").partition("/")
    query = dict(urllib.parse.parse_qsl(url.query))
    if wire.method == "POST" and wanted == "bulk":
        return _bulk(book, wire, plan, collection)
    if wire.method == "POST" and not wanted:
        return _create(book, wire, plan, collection)
    if wire.method == "GET" and plan.read == "forbidden":
        return Reply(status=403, body={"error": "no permission to read"})
    if wire.method == "GET" and not wanted:
        return _list(book, wire, plan, collection, query)
    if wire.method == "DELETE" and query:
        return _delete_found(book, collection, query, plan)
    name = urllib.parse.unquote(wanted)
    thing = book.objects.get(name)
    if wire.method == "PUT" and wire.headers.get("if-none-match") == "*":
        return _put(book, wire, collection, name)
    if thing is None or thing.collection != collection:
        return Reply(status=404, body={"error": "no such object"})
    match wire.method:
        case "GET":
            seen = thing.seen(plan.read, plan.lag)
            if seen is None:
                return Reply(status=404, body={"error": "no such object"})
            return Reply(status=200, body={**seen, "id": thing.id}, headers={"ETag": thing.tag(seen)})
        case "PUT" | "PATCH":
            return _change(book, wire, thing, plan)
        case "DELETE":
            return _delete(book, thing, plan)
        case _:
            return Reply(status=405, body={"error": "no such method here"})


def _list(book: Book, wire: Wire, plan: Switch, collection: str, query: dict[str, str]) -> Reply:
    """`?since=` hides what was booked before; a read of `paged` gives a page and the address of the next."""
    page, since = int(query.pop("page", "1")), query.pop("since", "")
    items = [i for i in book.find(collection, query, plan.read, plan.lag) if book.objects[i["id"]].booked_at >= since]
    if plan.read != "paged":
        return Reply(status=200, body={"items": items})
    size = plan.size or PAGE
    target = wire.target.partition("&page=")[0]
    more = f"{target}{'&' if '?' in target else '?'}page={page + 1}" if len(items) > page * size else None
    return Reply(status=200, body={"items": items[(page - 1) * size : page * size], "next": more})


def _create(book: Book, wire: Wire, plan: Switch, collection: str) -> Reply:
    if not isinstance(wire.body, dict):
        return Reply(status=400, body={"error": "a JSON object is wanted"})
    remembered: Remembered | None = None
    if wire.key and plan.keys != "ignored":
        with book.lock:
            known = book.keys.get((collection, wire.key))
            if known is not None and plan.retention and time.monotonic() - known.at > plan.retention:
                known = None
            if known is None:
                remembered = book.keys[collection, wire.key] = Remembered(wire.body, wire.raw)
        if known is not None:
            return _replay(known, wire, plan)
    if plan.foreign:
        theirs = {"reference": wire.body.get("reference", ""), "email": "somebody@else.example"}
        book.write(book.draft(collection, "", theirs, foreign=True), theirs)
    if plan.unique and (twins := book.find(collection, {plan.unique: str(wire.body.get(plan.unique))})):
        text = f"It exists already. Existing ID: {twins[0]['id']}"
        return Reply(status=409, body={"error": text}, remembered=remembered)
    body = dict(wire.body)
    thing = book.draft(collection, wire.key, body)
    return Reply(
        status=201, body={**body, "id": thing.id}, change=lambda: book.write(thing, body), remembered=remembered
    )


def _replay(known: Remembered, wire: Wire, plan: Switch) -> Reply:
    other = known.raw != wire.raw if plan.keys == "strict" else known.body != wire.body
    if other and plan.keys != "old":
        return Reply(status=422, body={"error": "this key came with another body before"})
    if plan.keys == "conflict" and not known.done.is_set():
        return Reply(status=409, body={"error": "a request with this key is still being worked on"})
    known.done.wait(TWIN_WAIT)
    reply: Reply | None = known.reply
    if reply is None:
        return Reply(status=409, body={"error": "a request with this key is still being worked on"})
    return Reply(status=reply.status, body=reply.body, headers={"Idempotent-Replayed": "true"})


def _for_a_while(book: Book, thing: Object, body: Json, seconds: float) -> None:
    book.write(thing, None)
    timer = threading.Timer(seconds, book.write, [thing, body])
    timer.daemon = True
    timer.start()


def _bulk(book: Book, wire: Wire, plan: Switch, collection: str) -> Reply:
    """`POST /contacts/bulk {"items": [...]}`: each booked or not by `plan.items`, and answered by its reference."""
    wanted = wire.body["items"]
    words = plan.items.split() or ["201"] * len(wanted)
    answers, writes = [], []
    for item, word in zip(wanted, words, strict=False):
        booked, said = word.strip("!") in ("201", "-"), word.strip("!")
        if booked and "!" not in word:
            thing = book.draft(collection, "", item)
            writes.append((thing, item))
        if said != "-":
            known = {"id": writes[-1][0].id} if said == "201" and writes else {"error": f"said {said}"}
            answers.append({"reference": item["reference"], "status": int(said), **known})
    answers.reverse()  # their order is nobody's promise

    def change() -> None:
        for thing, item in writes:
            book.write(thing, item)

    failed = any(answer["status"] >= 400 for answer in answers)
    return Reply(status=200, body={"errors": failed, "items": answers}, change=change)


def _put(book: Book, wire: Wire, collection: str, name: str) -> Reply:
    """Stored under the caller's own name, if nothing is there yet."""
    thing = book.objects.get(name)
    if thing is not None and thing.body is not None:
        return Reply(status=412, body={"error": "something is there already"})
    if not isinstance(wire.body, dict):
        return Reply(status=400, body={"error": "a JSON object is wanted"})
    body = dict(wire.body)
    thing = dataclasses.replace(book.draft(collection, wire.key, body), id=name)
    return Reply(status=201, body={**body, "id": name}, change=lambda: book.write(thing, body))


def _change(book: Book, wire: Wire, thing: Object, plan: Switch) -> Reply:
    if thing.body is None:
        return Reply(status=404, body={"error": "no such object"})
    if not isinstance(wire.body, dict):
        return Reply(status=400, body={"error": "a JSON object is wanted"})
    if wire.headers.get("if-match", thing.etag) != thing.etag:
        return Reply(status=412, body={"error": "it was changed meanwhile"})
    change = {name: v for name, v in wire.body.items() if v is not None or plan.nulls != "ignored"}
    body = change if wire.method == "PUT" else {**thing.body, **change}
    if plan.nulls == "deletes":
        body = {name: v for name, v in body.items() if v is not None}
    made = {"ETag": f'"{len(thing.versions) + 1}"'}
    return Reply(status=200, body={**body, "id": thing.id}, headers=made, change=lambda: book.write(thing, body))


def _delete_found(book: Book, collection: str, query: dict[str, str], plan: Switch) -> Reply:
    """`DELETE /contacts?reference=K`: the first that this finds."""
    found = book.find(collection, query)
    if not found:
        return Reply(status=404, body={"error": "nothing was found"})
    return _delete(book, book.objects[found[0]["id"]], plan)


def _delete(book: Book, thing: Object, plan: Switch) -> Reply:
    if plan.undo == "gone" and thing.body is not None:
        book.write(thing, None)
    if thing.body is None:
        blank = plan.undo == "blank"
        return Reply(status=204) if blank else Reply(status=404, body={"error": "no such object"})
    body = thing.body
    match plan.undo:
        case "partial":
            left = {**body, "kept": 1}
            return Reply(status=200, body=left, change=lambda: book.write(thing, left))
        case "closed":
            return Reply(status=409, body={"code": "window_closed", "error": "it can't be undone any more"})
        case "wrong":
            others = [
                o for o in book.objects.values() if o.collection == thing.collection and o.body and o is not thing
            ]
            return Reply(status=204, change=lambda: book.write((others or [thing])[0], None))
        case "reverses":
            return Reply(status=204, change=lambda: _for_a_while(book, thing, body, plan.late))
        case "refused":
            return Reply(status=409, body={"error": "it is locked by its owner"})
        case "lies":
            return Reply(status=204)
        case "error":
            return Reply(status=500, body={"error": "something broke"})
        case _:
            pass
    return Reply(status=204, change=lambda: book.write(thing, None))
