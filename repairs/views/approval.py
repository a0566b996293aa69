"""The page of one approval: its exact call, a fresh look at its target, who said what, and the bytes of its digest."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header

from repairs import asked, reading, remarks
from repairs.acts import approve as acts
from repairs.acts import proof
from repairs.acts import remark as acting
from repairs.following import following
from repairs.models.remark import RemarkKind
from repairs.scope import one, visible
from repairs.views import live
from repairs.views.approval_reading import words
from repairs.views.screen import at_desk, screen, show
from repairs.words import traits, verdicts
from repairs.words.check import check
from repairs.words.exact import Change, changes, exact
from repairs.words.marked import _, said
from workflows.authority import approvals
from workflows.authority.approvals import digest
from workflows.engine import peek
from workflows.models import Approval, ApprovalVote
from workflows.models.approval import ApprovalState


@screen
def approval_page(request: HttpRequest, approval_id: uuid.UUID) -> HttpResponse:
    """`?whole=1` shows the call without cuts. Looking changes nothing."""
    return show_approval(request, find(request, approval_id))


def find(request: HttpRequest, approval_id: uuid.UUID) -> Approval:
    rows = visible(at_desk(request), Approval)
    related = ("effect__tool", "effect__step", "effect__agent", "effect__makes_good__step", "run__workflow", "agent")
    heavy = ("effect__arguments", "effect__result", "effect__before", "effect__step__template")
    return one(rows.select_related(*related).defer(*heavy), id=approval_id)


def show_approval(request: HttpRequest, approval: Approval, *, status: int = 200, **context: Any) -> HttpResponse:
    now, desk = timezone.now(), at_desk(request)
    effect = approval.effect
    effect.run = approval.run  # the same row, which was read with the approval
    asks = approval.state == ApprovalState.ASKED
    wants_whole = request.GET.get("whole") == "1" or request.POST.get("whole") == "1"
    call = exact(approval.fields.get("arguments"), origins=origins_of(approval), whole=wants_whole)
    stand = approvals.stand(approval, effect, desk.user)
    glass = bool(asks and stand.why_not() and not stand.why_not(glass=True))
    may_not = "" if glass else stand.why_not()
    may_refuse = asks and (not stand.no or not approvals.why_not_refuse(approval, effect, desk.user, stand))
    votes = votes_of([approval]).get(approval.id, [])
    remarked = remarks.of([approval]).get(approval.id, [])
    voted = any(vote.by_id == desk.user.pk and vote.seen_digest == approval.digest for vote in votes)
    under_way = words(approval.id, approval.read_due, now, whole=False) if asks and approval.read_due else ""
    note = acts.Seen(
        approval=approval.id,
        user=desk.user.pk,
        digest=approval.digest,
        opened_at=now,
        read_at=acts.read_at(approval),
        whole=not call.cut,
    )
    return show(
        request,
        "console/approval.html",
        here="approvals",
        status=status,
        now=now,
        approval=approval,
        effect=effect,
        run=approval.run,
        subject=reading.subject_of(approval.run),
        call=call,
        whole=wants_whole,
        what=traits.class_words(approval.effect_class),
        asks_whom=verdicts.asked_of(approval.approvers),
        person=asked.by_person(effect),
        behalf=effect.on_behalf_of or approval.agent.on_behalf_of,
        ended=verdicts.ending(approval.state, approval.void_reason, approval.detail),
        outcome=verdicts.outcome(effect, effect.first_sent_at),
        asked=asks,
        following=following(effect) if asks else [],
        late=asks and approval.expires_at <= now,
        may_not=may_not,
        may_refuse=may_refuse,
        voted=voted,
        another=stand.another if asks and not may_not else "",
        glass=glass,
        votes=[told(vote) for vote in votes],
        yes=sum(vote.verdict == "approve" and vote.seen_digest == approval.digest for vote in votes),
        target=target_of(approval, now),
        reading=under_way,
        tag=live.tag_of(under_way),
        check=check(approval.question, approval.digest) if asks else None,
        note=note.note(),
        proof=proof.wanted(desk, request.session, strong=for_good(approval)),
        proof_strong=proof.wanted(desk, request.session, strong=True),
        remarks=remarked,
        open_question=remarks.unanswered(remarked),
        left=any(one.kind == RemarkKind.NOT_MINE and one.by_id == desk.user.pk for one in remarked),
        may_ask=asks and not stand.no,
        may_answer=asks and bool(desk.roles & acting.MAY_ANSWER or approvals.asked_for(effect, desk.user)),
        acted=match.url_name if (match := request.resolver_match) else "",
        similar=counted(asked.similar(desk, approval)),
        **{"error": "", "kept": "", **context},
    )


def origins_of(approval: Approval) -> dict[str, str]:
    """Path of an argument -> where in untrusted content its value stems from."""
    return {str(one.get("path")): str(one.get("from")) for one in approval.origin or [] if isinstance(one, dict)}


def target_of(approval: Approval, now: dt.datetime) -> dict[str, Any]:
    """What was read of the target, when, and what is another since persons were asked."""
    target = approval.target or {}
    first: dict[str, Any] = target.get("first") or {}
    failed: dict[str, Any] | None = target.get("failed")
    read_at = moment(target.get("at"))
    undoing = approval.act == "compensation"
    return {
        "read": "image" in target,
        "at": read_at,
        "old": read_at is not None and now - read_at > acts.FRESH,
        "by": verdicts.READ_BY.get(str(target.get("by", "")), ""),
        "seen": verdicts.seen(target, undoing=undoing),
        "image": target.get("image"),
        "version": target.get("version"),
        "failed": failed,
        "failed_at": moment((failed or {}).get("at")),
        "blind": (failed or {}).get("by") == peek.NOTHING,
        "first_at": moment(first.get("at")),
        "changes": changed(first, target) if first else [],
    }


def changed(first: dict[str, Any], last: dict[str, Any]) -> list[Change]:
    """What was seen is another, not when. The provider's own fields may be named like ours."""
    seen = changes(first.get("image"), last.get("image")) if first.get("image") or last.get("image") else []
    return [*changes(telling(first), telling(last)), *seen]


def telling(read: dict[str, Any]) -> dict[str, Any]:
    verdict = {said(_("what a look says")): read.get("verdict")} if read.get("by") == "look" else {}
    return {"version": read["version"], **verdict} if read.get("version") is not None else verdict


def moment(text: Any) -> dt.datetime | None:
    try:
        return dt.datetime.fromisoformat(text) if text else None
    except (TypeError, ValueError):
        return None


def counted(similar: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Earlier decisions about the same tool by the same rule: how many went which way, and the latest. `more`: than
    are counted."""
    more, similar = len(similar) > asked.SIMILAR, similar[: asked.SIMILAR]
    yes = sum(row["state"] in ("granted", "spent") for row in similar)
    no = sum(row["state"] == "refused" for row in similar)
    latest = [{**row, "ended": verdicts.ending(row["state"], row["void_reason"], "")} for row in similar[:5]]
    return {"yes": yes, "no": no, "other": len(similar) - yes - no, "all": len(similar), "more": more, "latest": latest}


@screen
def exact_call(request: HttpRequest, approval_id: uuid.UUID) -> HttpResponse:
    """What the digest is over, byte by byte, as a file: its sha256 is the digest."""
    approval = find(request, approval_id)
    text = digest.text_of(approval.fields)
    answer = HttpResponse(text, content_type="application/json")
    answer["Content-Disposition"] = content_disposition_header(True, f"approval-{approval.id}.json")
    answer["X-Content-Digest"] = hashlib.sha256(text.encode()).hexdigest()
    return answer


def votes_of(rows: Sequence[Approval]) -> dict[uuid.UUID, list[ApprovalVote]]:
    found: dict[uuid.UUID, list[ApprovalVote]] = {}
    for vote in ApprovalVote.objects.filter(approval__in=[row.id for row in rows]).select_related("by"):
        found.setdefault(vote.approval_id, []).append(vote)
    return found


def told(vote: ApprovalVote) -> dict[str, Any]:
    """A person's word, with how long they had looked at the page."""
    looked = (vote.at - vote.opened_at).total_seconds() if vote.opened_at else None
    return {"vote": vote, "looked": verdicts.length(looked) if looked is not None else ""}


def for_good(approval: Approval) -> bool:
    return approval.effect_class == "irreversible"
