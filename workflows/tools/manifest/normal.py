"""The normalised spec: what the engine will use, every default written out, durations in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows.tools import defaults, expressions
from workflows.tools.manifest.shapes import plain

if TYPE_CHECKING:
    from workflows.tools.manifest.fields import AnyTool
    from workflows.tools.manifest.workflow_shape import Workflow

Spec = dict[str, Any]
REQUEST = ("url", "headers", "json", "multipart", "auth")


def tool_spec(tool: AnyTool) -> Spec:
    """The stored form of a tool. Its digest is the tool's identity: the same version never means another one."""
    spec: Spec = plain(tool)
    if "mailbox" in spec:
        mailbox = spec.pop("mailbox")
        asking = {name: mailbox.pop(name) for name in ("settle", "every", "looks", "within") if name in mailbox}
        spec["verify"] = {**asking, "mailbox": mailbox}
    spec["idempotency"] = _idempotency(spec)
    execute = spec["execute"]
    execute.setdefault("late", _late(spec["idempotency"], execute["timeout"]))
    if "verify" in spec:
        _asking(spec["verify"], {})
    for part in (execute, spec.get("verify", {})):
        _versioned(part)
    if spec["kind"] == "http":
        _answers(execute, keyed=spec["idempotency"]["by"] == "native_key")
    if "compensate" in spec:
        _compensate(spec)
    return spec


def workflow_spec(workflow: Workflow) -> Spec:
    """The stored form of a workflow; every step says what it follows."""
    spec: Spec = plain(workflow)
    before: list[str] = []
    for step in spec["steps"]:
        step.setdefault("after", before)
        before = [step["name"]]
    return spec


def mentions_key(part: Spec) -> bool:
    """Whether the request of `part` carries our key. A text that is no expression is another rule's business."""
    for _, text in expressions.texts_in({name: part[name] for name in REQUEST if name in part}):
        try:
            sources = expressions.parse(text).sources
            if any(path[0] == "key" for source in sources for path in expressions.paths(source)):
                return True
        except expressions.ExpressionError:
            continue
    return False


def _idempotency(spec: Spec) -> Spec:
    declared: Spec | None = spec.get("idempotency")
    if declared is None:
        # A calendar keeps a UID as long as the event, so the key is honoured without end.
        return {"by": "native_key"} if spec["kind"] == "caldav" else {"by": "none"}
    if declared["by"] == "native_key" and spec["kind"] != "caldav":
        declared.setdefault("retention", defaults.RETENTION)
    return declared


def _late(idempotency: Spec, timeout: float) -> float:
    blind = idempotency["by"] == "native_key" and idempotency.get("keeps") != "success"
    return timeout if blind else max(defaults.LATE, timeout)


def _asking(verify: Spec, forward: Spec) -> None:
    for looked in (verify, verify.get("mailbox", {})):
        if "next" in looked:
            looked.setdefault("pages", defaults.PAGES)
        if "match" in looked:
            for name, text in defaults.MATCHED.items():
                looked.setdefault(name, text)
    verify.setdefault("settle", forward.get("settle", defaults.SETTLE))
    verify.setdefault("every", forward.get("every", defaults.EVERY))
    verify.setdefault("looks", forward.get("looks", defaults.LOOKS))
    verify.setdefault("within", forward.get("within", defaults.LOOK_WITHIN))


def _versioned(part: Spec) -> None:
    """A version is part of the result: an undoing may name it, and so may later steps."""
    if "version" in part:
        part["result"] = {**part.get("result", {}), "version": part["version"]}


def _answers(part: Spec, *, keyed: bool) -> None:
    if "batch" in part:
        part["batch"].setdefault("temporary", defaults.TEMPORARY)
        part["batch"].setdefault("refused", defaults.REFUSED_KEYED if keyed else defaults.REFUSED)
        part.setdefault("temporary", "false")  # of one item; what is said of the whole is read before
        part.setdefault("refused", "false")
    part.setdefault("acknowledged", defaults.ACKNOWLEDGED)
    part.setdefault("temporary", defaults.TEMPORARY)
    part.setdefault("refused", defaults.REFUSED_KEYED if keyed else defaults.REFUSED)


def _compensate(spec: Spec) -> None:
    """Times, `temporary` and retry come from the forward part; the key's promise only where the request carries it."""
    part, execute = spec["compensate"], spec["execute"]
    # A calendar's DELETE names our UID and the ETag, and a Python class gets the key: both can't undo twice.
    carried = spec["kind"] != "http" or mentions_key(part)
    part.setdefault("timeout", execute["timeout"])
    part.setdefault("retry", spec["retry"])
    if carried:
        part.setdefault("idempotency", spec["idempotency"])
        part.setdefault("late", execute["late"])
    part.setdefault("idempotency", {"by": "none"})
    part.setdefault("late", _late(part["idempotency"], part["timeout"]))
    if "verify" in part:
        _asking(part["verify"], spec.get("verify", {}))
    if spec["kind"] == "http":
        part.setdefault("temporary", execute["temporary"])
        if part["method"] == "DELETE":
            # What isn't there any more was perhaps removed by us, perhaps never made: a look decides.
            part.setdefault("refused", defaults.REFUSED_DELETE)
        _answers(part, keyed=part["idempotency"]["by"] == "native_key")
