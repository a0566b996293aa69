"""Filters and tags of the console's templates. Everything foreign goes through `inert` or `block`."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import conditional_escape, escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext

from repairs.words import actors, clock, marks, resting
from repairs.words.marked import Phrase, _, said
from repairs.words.reasons import HELD, because
from repairs.words.refusals import flawed
from repairs.words.waits import waits_for
from workflows.errors import Flaw
from workflows.money import shown
from workflows.visible import Piece, parts, up_to

register = template.Library()

LINE, BLOCK = 200, 4000  # characters shown of a foreign value in a line, and in a block of its own
STEP = 80  # and of a step's name
FOLDED = 20_000  # characters looked at for runs of blanks


@register.filter
def inert(value: object, limit: int = LINE) -> SafeString:
    """Foreign text in a line: escaped, isolated from its surroundings' direction, hidden characters shown, cut."""
    text = text_of(value)
    shown, cut = up_to(limit, parts(text[:FOLDED]))  # what is seen is cut, so that blanks push nothing out of sight
    return format_html("<bdi>{}</bdi>{}", pieces(shown), note(text, limit, cut=cut or len(text) > FOLDED))


@register.filter
def inert_text(value: object, limit: int = LINE) -> str:
    """The same where no element may stand: titles and attributes. Django escapes it."""
    text = text_of(value)
    shown, cut = up_to(limit, parts(text[:FOLDED]))
    return "".join(piece for _, piece in shown) + ("…" if cut or len(text) > FOLDED else "")


def text_of(value: object) -> str:
    """A phrase of ours in the reader's language, all else as it is."""
    value = flawed(value) if isinstance(value, Flaw) else value
    return said(value) if isinstance(value, str) else "" if value is None else str(value)


@register.filter
def step(name: str, undoing: bool | str | None = False) -> SafeString:
    """A step's name, or that it is about its undoing."""
    shown = inert(name, STEP)
    return within(_("the undoing of {step}"), step=shown) if undoing else shown


def within(phrase: Phrase, **pieces: SafeString) -> SafeString:
    """A phrase with pieces of a page in its blanks; in English where its translation has others."""
    try:
        return format_html(escape(said(phrase)), **pieces)
    except (LookupError, ValueError, AttributeError):
        return format_html(escape(phrase), **pieces)


@register.filter
def words(data: object, limit: int = LINE) -> SafeString:
    """The payload of a journal entry in a line: names and values, nothing where it was erased or there is none."""
    if not isinstance(data, dict):
        return mark_safe("")
    pairs = (f"{name}: {plain(value)}" for name, value in data.items() if value not in (None, "", [], {}))
    return inert("; ".join(pairs), limit)


def plain(value: object) -> str:
    """A value in a line: texts and ids as they are, objects as their names and values, without brackets."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(one)}" for name, one in value.items())
    if isinstance(value, list):
        return " / ".join(plain(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


@register.filter
def block(value: object, limit: int = BLOCK) -> SafeString:
    """The same for a text or JSON value in a block of its own, whose lines stay."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
    shown, cut = up_to(limit, parts(text[: limit + FOLDED], block=True))
    rest = note(text, limit, cut=cut or len(text) > limit + FOLDED)
    return format_html('<pre class="foreign" dir="auto" tabindex="0">{}</pre>{}', pieces(shown), rest)


def pieces(shown: Iterable[Piece]) -> SafeString:
    return format_html_join(
        "",
        "{}",
        (
            (format_html('<span class="hidden-char">{}</span>', piece) if hidden else conditional_escape(piece),)
            for hidden, piece in shown
        ),
    )


def note(text: str, limit: int, *, cut: bool) -> SafeString:
    if not cut:
        return mark_safe("")
    told = _("cut: {shown} of {all} characters", shown=f"{limit:,}", all=f"{len(text):,}")
    return format_html(' <span class="cut">{}</span>', told)


@register.filter
def when(value: dt.datetime | None, now: dt.datetime | None = None) -> SafeString:
    """A moment in the viewer's zone, with UTC as its title: the time alone on the day of `now`, else with its date. An
    hour that is there twice says which it is. The one place where the console says when."""
    if value is None:
        return mark_safe('<span class="none">–</span>')
    here, today = clock.local(value), now and clock.local(now).date()
    form = "%H:%M:%S" if here.date() == today else "%d %b %H:%M" if now else "%Y-%m-%d %H:%M:%S"
    iso = value.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    shown = here.strftime(f"{form} %Z" if clock.twice(value) else form)
    return format_html('<time datetime="{}" title="{} UTC">{}</time>', iso, iso[:-1].replace("T", " "), shown)


@register.simple_tag
def zone() -> str:
    """The zone of all times that this page shows."""
    return clock.zone()


@register.filter
def span(value: dt.datetime | None, now: dt.datetime) -> str:
    """How far a moment is from now: "in 40 min", "3 h ago"."""
    if value is None:
        return "–"
    seconds = (value - now).total_seconds()
    far = length(abs(seconds))
    return _("in {span}", span=far) if seconds >= 0 else _("{span} ago", span=far)


def length(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size or (unit == "min" and seconds >= size):
            return f"{round(seconds / size)} {unit}"
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    return f"{int(seconds)} s"


@register.filter
def money(value: dict[str, Any]) -> SafeString:
    """{"amount": minor units, "currency"} as people write it."""
    code, _, amount = shown(value["amount"], value["currency"]).rpartition(" ")
    return format_html('<span class="money">{} {}</span>', inert(code, 8), amount)


@register.inclusion_tag("console/_mark.html")
def mark(kind: str, value: str) -> dict[str, Any]:
    """A state's word with its shape and tone."""
    return {"mark": marks.mark(kind, value)}


@register.filter
def translated(text: str) -> str:
    """A text of ours that was stored, in the reader's language. Of nothing gettext would give its catalogue's head."""
    return said(text) if isinstance(text, Phrase) else gettext(text) if text else ""


@register.filter
def untranslated(text: str) -> bool:
    """Whether a text of ours that was stored stays English here: with a number in it, it is in no catalogue."""
    return bool(text) and (get_language() or "en") != "en" and translated(text) == text


@register.filter
def capital(text: str) -> str:
    """A phrase at the beginning of a sentence."""
    return capfirst(said(text))


@register.inclusion_tag("console/_shape.html")
def shape(name: str) -> dict[str, str]:
    return {"name": name}


@register.filter
def reason(code: str, kind: str = "forward") -> str:
    """What the code of an effect's reason means; "" for none. A run that is told to hold has another clause."""
    if code == "hold":
        return HELD
    return because(code, undoing=kind == "compensation") if code else ""


@register.filter
def cell(value: object, now: dt.datetime | None = None) -> SafeString:
    """Any value of a record in a line."""
    if value is None or value == "":
        return mark_safe('<span class="none">–</span>')
    if isinstance(value, dt.datetime):
        return when(value, now)
    if isinstance(value, uuid.UUID):
        return format_html('<span class="id">{}</span>', value)
    return inert(value if isinstance(value, str) else plain(value), 120)


ACTS = {
    "claim": _("claimed the case"),
    "take_over": _("took the case over"),
    "release": _("gave the case back"),
    "look_again": _("asked for another look"),
    "found": _("recorded a finding: it is as it should be"),
    "absent": _("recorded a finding: nothing of it is outside"),
    "try_again": _("had it sent again"),
    "skip": _("let the run go on without it"),
    "undo_rest": _("had the rest undone"),
    "undo_again": _("had it undone once more"),
    "turn_back": _("decided to undo what stands"),
    "cancel": _("cancelled the run"),
    "hold": _("stopped the run where it is"),
    "resume": _("let the run go forward again"),
    "propose_write_off": _("proposed to write off"),
    "decline_write_off": _("declined the write-off"),
    "write_off": _("wrote off"),
    "remedy": _("asked for a remedy"),
    "call_off": _("called a remedy off"),
    "snooze": _("set the case aside"),
    "wake": _("woke the case"),
    "escalate": _("escalated the case"),
    "answer": _("answered the escalation"),
    "fact": _("wrote down a fact"),
    "guess": _("wrote down a guess"),
    "confirm": _("confirmed a guess"),
    "refute": _("refuted a guess"),
    "told": _("told somebody"),
    "open_case": _("opened the case by hand"),
    "reopen": _("opened the case again"),
    "close": _("closed the case"),
    "hand_over": _("handed the case over"),
    "accept": _("read the hand-over back; the case is theirs"),
    "decline_hand_over": _("declined the hand-over"),
    "withdraw_hand_over": _("withdrew the hand-over"),
    "correct_time": _("corrected their time"),
    "hurts": _("said by when it hurts the customer"),
    "tick": _("did a step of the runbook"),
    "deviate": _("did a step of the runbook otherwise"),
}
EVENTS = {
    "open": _("The case was opened."),
    "update": _("What is true changed; the case says so."),
    "resolve": _("Nothing needs a person any more; the engine closed the case."),
    "write_off": _("The engine closed the case as written off."),
    "reopen": _("The run needs a person after all; the case is open again."),
    "wait": _("The case waits."),
    "half_gone": _("Half of its time is gone; its desk was told."),
    "nearly_gone": _("Four fifths of its time are gone; the engine escalated it."),
    "late": _("All of its time is gone; the engine escalated it."),
    "proceed": _("The case waits for nobody any more."),
}


@register.filter
def waits(blocker: object) -> str:
    """What a blocker of a waiting effect says."""
    return waits_for(blocker)


@register.filter
def who(actor: str) -> str:
    """Whoever did something, by the journal's name for them."""
    return actors.who(actor)


@register.filter
def act_words(kind: str, outcome: str) -> str:
    """What a person did; an act that the engine refused says so."""
    did = ACTS.get(kind, kind)
    return _("{did}; the engine refused it", did=did) if outcome == "refused" else did


@register.filter
def rests(cause: str) -> str:
    """What a case that was set aside waits for."""
    return resting.rests(cause)


@register.filter
def event_words(event: str) -> str:
    return EVENTS.get(event, event)


@register.filter
def capped(count: int) -> str:
    """A count as it may be said: beyond ten thousand nobody counts."""
    return "10,000+" if count > 10_000 else f"{count:,}"


@register.inclusion_tag("console/_preview.html", takes_context=True)
def preview(context: template.Context, act: str, effect: str) -> dict[str, Any]:
    """What an act sends, where the page has its preview."""
    return {"shown": context["previews"][f"{act} {effect}"], "case": context["case"]}


@register.filter
def has(known: dict[str, Any], name: str) -> bool:
    return name in known
