"""What the shape can't say about an http tool: names, hosts, headers, and what its undoing needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from workflows.tools import expressions, urls
from workflows.tools.manifest.names import OF_A_CALL, OF_A_LOOK, OF_AN_ANSWER, OF_AN_UNDOING, Checker, read_paths
from workflows.tools.manifest.normal import mentions_key

if TYPE_CHECKING:
    from workflows.tools.reading.documents import Where

Spec = dict[str, Any]
HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# These are the transport's: a second one could make two readers see two messages.
OURS = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "accept-encoding",
        "expect",
        "te",
        "trailer",
        "upgrade",
    }
)
OF_A_BATCH = frozenset({"env", "now"})
LOOK_CONDITIONS = ("unauthorized", "several", "gone", "differs", "found", "absent")
ANSWER_CONDITIONS = ("unauthorized", "acknowledged", "pending", "temporary", "refused")


def check(checker: Checker, where: Where, raw: Spec, spec: Spec) -> None:
    """Adds every flaw of one tool's execute, verify, before and compensate. `raw` has only what the author wrote."""
    _answered(checker, (*where, "execute"), raw["execute"], OF_A_CALL)
    checker.templates((*where, "execute", "version"), raw["execute"].get("version"), OF_A_CALL | OF_AN_ANSWER)
    if spec["idempotency"]["by"] == "native_key" and not mentions_key(spec["execute"]):
        checker.add((*where, "idempotency", "by"), "native_key", "needs a request that contains ${ key }")
    if "verify" in raw:
        look(checker, (*where, "verify"), raw["verify"], OF_A_CALL)
    if "before" in raw:
        _before(checker, (*where, "before"), raw["before"])
    if "compensate" in raw:
        _compensate(checker, (*where, "compensate"), raw, spec)


def look(checker: Checker, where: Where, raw: Spec, names: frozenset[str]) -> None:
    """One verify, of an http tool or of a mailbox asked over HTTP."""
    names |= OF_A_LOOK
    _request(checker, where, raw, names)
    if match := raw.get("match"):
        checker.templates((*where, "match", "wants"), match["wants"], names)
        checker.condition((*where, "match", "items"), match["items"], names | OF_AN_ANSWER)
        names |= {"matches", "near"}
    else:
        for name in ("found", "absent"):
            if name not in raw:
                checker.add((*where, name), None, "is missing")
    for name in LOOK_CONDITIONS:
        checker.condition((*where, name), raw.get(name), names | OF_AN_ANSWER)
    checker.templates((*where, "version"), raw.get("version"), names | OF_AN_ANSWER)
    checker.templates((*where, "result"), raw.get("result", {}), names | OF_AN_ANSWER)
    checker.templates((*where, "next"), raw.get("next"), names | OF_AN_ANSWER)
    if "pages" in raw and "next" not in raw:
        checker.add((*where, "pages"), raw["pages"], "means nothing without next")


def _batched(checker: Checker, where: Where, raw: Spec) -> None:
    """One request for many can't speak of one, and each one's answer must be told by its key."""
    batch, place = raw["batch"], (*where, "batch")
    _url(checker, (*where, "url"), raw["url"], OF_A_BATCH)
    _headers(checker, where, raw, OF_A_BATCH)
    checker.templates((*where, "json"), raw.get("json"), OF_A_CALL, secrets=True)
    checker.templates((*place, "json"), batch["json"], OF_A_BATCH | {"items"}, secrets=True)
    for name in ("answers", "temporary", "refused"):
        checker.condition((*place, name), batch.get(name), OF_AN_ANSWER)
    checker.condition((*place, "by"), batch["by"], OF_AN_ANSWER | {"item"})
    if not mentions_key({"json": raw.get("json")}):
        checker.add((*where, "json"), None, "must hold ${ key }: by it the answer names each item")
    if "acknowledged" not in raw:
        checker.add((*where, "acknowledged"), None, "must be written out where batch is: one status stands for many")
    for name in ("pending", "poll", "version"):
        if name in raw:
            checker.add((*where, name), None, "can't be declared beside batch")


def _answered(checker: Checker, where: Where, raw: Spec, names: frozenset[str]) -> None:
    if "batch" in raw:
        _batched(checker, where, raw)
        names |= {"item"}
    else:
        _request(checker, where, raw, names)
    answer = names | OF_AN_ANSWER
    for name in ANSWER_CONDITIONS:
        checker.condition((*where, name), raw.get(name), answer)
    checker.templates((*where, "result"), raw.get("result", {}), answer)
    if "pending" in raw and "poll" not in raw:
        checker.add((*where, "pending"), raw["pending"], "needs a poll that says how the work goes on")
    if "pending" in raw and "acknowledged" not in raw:
        checker.add((*where, "acknowledged"), None, "must be written out where pending is")
    if (poll := raw.get("poll")) is None:
        return
    if "pending" not in raw:
        checker.add((*where, "poll"), None, "is never used without pending")
    _url(checker, (*where, "poll", "url"), poll["url"], answer, answer_may_lead=True)
    _headers(checker, (*where, "poll"), poll, names)
    for name in ("done", "failed"):
        checker.condition((*where, "poll", name), poll.get(name), answer)
    checker.templates((*where, "poll", "result"), poll.get("result", {}), answer)


def _request(checker: Checker, where: Where, raw: Spec, names: frozenset[str]) -> None:
    _url(checker, (*where, "url"), raw["url"], names)
    _headers(checker, where, raw, names)
    checker.templates((*where, "json"), raw.get("json"), names, secrets=True)
    _form(checker, (*where, "multipart"), raw, names)


def _form(checker: Checker, where: Where, raw: Spec, names: frozenset[str]) -> None:
    if (parts := raw.get("multipart")) is None:
        return
    checker.templates(where, parts, names, secrets=True)
    if raw.get("json") is not None:
        checker.add(where, None, "and json can't both be given; a request has one body")
    for number, part in enumerate(parts):
        if ("value" in part) == ("file" in part) or ("file" in part) != ("base64" in part):
            checker.add((*where, number), sorted(part), "must hold either value, or file and base64")


def _url(checker: Checker, where: Where, url: str, names: frozenset[str], *, answer_may_lead: bool = False) -> None:
    before = len(checker.flaws)
    checker.templates(where, url, names)
    if len(checker.flaws) > before:
        return
    # An address out of an answer is followed only to the origin of the request that was answered.
    if answer_may_lead and expressions.parse(url).whole:
        return
    if (message := urls.trouble(url)) is not None:
        checker.add(where, url, message)


def _headers(checker: Checker, where: Where, raw: Spec, names: frozenset[str]) -> None:
    for name, value in (raw.get("headers") or {}).items():
        if not HEADER.fullmatch(name):
            checker.add((*where, "headers", name), name, "is no name of a header")
        elif name.lower() in OURS or name.lower().startswith("proxy-"):
            checker.add((*where, "headers", name), value, "is set by the transport itself")
        elif re.search(r"[\r\n\0]", value):
            checker.add((*where, "headers", name), value, "holds a line break; a header is one line")
    checker.templates((*where, "headers"), raw.get("headers") or {}, names, secrets=True)
    auth = raw.get("auth") or {}
    checker.templates((*where, "auth"), auth, names, secrets=True)
    if raw.get("auth") is not None and len(auth) != 1:
        checker.add((*where, "auth"), sorted(auth), "must hold one of bearer, basic and oauth")
    if auth and any(name.lower() == "authorization" for name in raw.get("headers") or {}):
        checker.add((*where, "auth"), sorted(auth), "and a header Authorization can't both be given")


def _before(checker: Checker, where: Where, raw: Spec) -> None:
    _request(checker, where, raw, OF_A_CALL)
    checker.templates((*where, "keep"), raw["keep"], OF_A_CALL | OF_AN_ANSWER)
    checker.templates((*where, "version"), raw.get("version"), OF_A_CALL | OF_AN_ANSWER)


def _compensate(checker: Checker, where: Where, raw: Spec, spec: Spec) -> None:
    part, names = raw["compensate"], OF_A_CALL | OF_AN_UNDOING
    before = part.get("before")
    if before is not None:
        _present(checker, (*where, "before"), before, spec)
    _answered(checker, where, part, names | ({"remaining"} if before and "remaining" in before else frozenset()))
    checker.condition((*where, "partial"), part.get("partial"), names | OF_AN_ANSWER)
    checker.templates((*where, "residue"), part.get("residue"), names)
    if "verify" in part:
        look(checker, (*where, "verify"), part["verify"], names)
        if "gone" in part["verify"]:
            checker.add((*where, "verify", "gone"), part["verify"]["gone"], "is what found means here")
    declared = part.get("idempotency") or {}
    if declared.get("by") == "native_key" and not mentions_key(part):
        checker.add((*where, "idempotency", "by"), "native_key", "needs a request that contains ${ key }")
    _needs(checker, where, spec)


def _present(checker: Checker, where: Where, raw: Spec, spec: Spec) -> None:
    names = OF_A_CALL | OF_AN_UNDOING
    _request(checker, where, raw, names)
    for name in ("done", "blocked"):
        checker.condition((*where, name), raw.get(name), names | OF_AN_ANSWER)
    for name in ("remaining", "says"):
        checker.templates((*where, name), raw.get(name), names | OF_AN_ANSWER)
    if not {"done", "blocked", "remaining"} & raw.keys():
        checker.add(where, None, "says nothing of what it reads; give done, blocked or remaining")
    if "remaining" in raw and "value" not in spec:
        checker.add((*where, "remaining"), raw["remaining"], "needs a value, of which it is what is left")


def _needs(checker: Checker, where: Where, spec: Spec) -> None:
    """What undoing reads of the forward result must be known even when the forward answer was lost."""
    looked, answered = spec.get("verify"), set(spec["execute"].get("result", {}))
    if "poll" in spec["execute"]:
        answered &= set(spec["execute"]["poll"].get("result", {}))
    given = set(looked.get("result", {})) if looked is not None else answered
    kept = set(spec["before"]["keep"]) if "before" in spec else set()
    for place, path in _reads(spec["compensate"]):
        field, value = path[1] if len(path) > 1 else None, ".".join(map(str, path))
        if path[0] == "result" and field is None:
            checker.add((*where, *place), value, "must name the field of the result that it needs")
        elif path[0] == "result" and field not in given:
            source = "verify.result" if looked is not None else "execute.result (and poll.result)"
            checker.add((*where, *place), value, f"needs result.{field}, which {source} doesn't give")
        elif path[0] == "before" and field is not None and field not in kept:
            checker.add((*where, *place), value, f"needs before.{field}, which before.keep doesn't give")


def _reads(part: Spec, where: Where = ()) -> list[tuple[Where, tuple[Any, ...]]]:
    found = list(read_paths({k: v for k, v in part.items() if k not in ("residue", "verify")}))
    for name in (*ANSWER_CONDITIONS, *LOOK_CONDITIONS):
        if isinstance(part.get(name), str):
            try:
                found += [((name,), path) for path in expressions.paths(part[name])]
            except expressions.ExpressionError:
                continue
    if "verify" in part:
        found += [(("verify", *place), path) for place, path in _reads(part["verify"])]
    return found
