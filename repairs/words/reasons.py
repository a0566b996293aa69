"""Why an effect needs a person, as a clause that may follow a semicolon. The codes are the engine's; each is said."""

from __future__ import annotations

from repairs.words.facts import EffectFacts
from repairs.words.marked import _

# code -> (of a forward or remedial effect, of an undoing)
CLAUSES: dict[str, tuple[str, str]] = {
    "refused": (_("the provider refused it for good"), _("the provider refused for good to undo it")),
    "limits": (_("every try that is allowed was used up"), _("every try to undo it that is allowed was used up")),
    "not_sent": (
        _("the request could not be sent in the time allowed"),
        _("the undoing could not be sent in the time allowed"),
    ),
    "not_found": (_("the provider said yes, but no look finds it"), _("no look finds that it was undone")),
    "not_undone": (
        _("no look finds that it was done"),
        _("the provider said that it was undone, but no look finds that"),
    ),
    "seen_absent": (
        _("a look that a person asked for shows nothing of it"),
        _("a look that a person asked for shows that it was not undone"),
    ),
    "differs": (
        _("a look found something that isn't ours, or isn't as asked"),
        _("a look found something that isn't ours, or isn't as we left it"),
    ),
    "several": (_("a look found more than one"), _("a look found more than one")),
    "gone": (_("it was there, and is gone, and we did not undo it"), _("it was there, and is gone")),
    "inconclusive": (_("the looks gave no clear answer"), _("the looks at its undoing gave no clear answer")),
    "unreachable": (
        _("the system that would know could not be reached"),
        _("the system that would know whether it was undone could not be reached"),
    ),
    "no_result": (
        _("what names it at the provider was never learned"),
        _("what names it at the provider was never learned, so it can't be undone"),
    ),
    "window": (_("the time in which it may be sent is over"), _("the time in which it may be undone is over")),
    "dependants": (_("later work of other runs stands on it"), _("later work of other runs stands on it")),
    "policy": (_("policy does not allow it to be sent"), _("policy does not allow it to be undone")),
    "key_expired": (
        _("the provider no longer remembers our key, and nothing else would stop it from happening twice"),
        _("the provider no longer remembers our key, and nothing else would stop the undoing from happening twice"),
    ),
    "key_mismatch": (
        _("the provider says that our key came with another request before, so no send can follow"),
        _("the provider says that our key came with another request before, so the undoing can't be sent again"),
    ),
    "replayed": (
        _("the provider says its failure again whenever our key comes"),
        _("the provider says its failure to undo it again whenever our key comes"),
    ),
    "cannot_know": (
        _("nobody can know what a send without an answer did, and nothing would keep a second one from doing it twice"),
        _(
            "nobody can know what an undoing without an answer did, and nothing would keep a second one from acting "
            "twice"
        ),
    ),
    "already_there": (
        _("it stood there before we sent anything, and does not carry our mark"),
        _("it stood there before we sent anything, and does not carry our mark"),
    ),
    "disputed": (
        _("something else at the provider holds it, a dispute say"),
        _("something else at the provider holds it, a dispute say, so it was not undone"),
    ),
    "less_remains": (
        _("less than the whole is left"),
        _("a part of it was undone already by somebody else, and less than the whole is left"),
    ),
    "changed": (
        _("it was changed since, so the request that named its version was refused"),
        _("what it undoes was changed since, so the undoing that named its version was refused"),
    ),
    "reversed": (_("it was undone and is there again"), _("it was undone, which a look showed, and it is there again")),
    "undo_again": (_("it is undone once more"), _("it is undone once more")),
    "late_answer": (
        _("an answer that came late contradicts what was recorded"),
        _("an answer that came late contradicts what was recorded of its undoing"),
    ),
    "poll_failed": (
        _("the provider took the work on and reported later that it failed"),
        _("the provider took the undoing on and reported later that it failed"),
    ),
    "hold": (
        _("a step failed, and this workflow is told to stop there"),
        _("a step failed, and this workflow is told to stop there"),
    ),
    "irreversible_happened": (
        _("it can't be undone, and a step of the same run failed"),
        _("something that can't be undone happened, or may have, and a step of the same run failed"),
    ),
    "no_compensation": (_("its tool declares no way to undo it"), _("its tool declares no way to undo it")),
    "budget": (_("too little is left of its budget"), _("too little is left of its budget")),
    "poison": (
        _("every worker that took it died or never came back, so no worker gets it any more"),
        _("every worker that took its undoing died or never came back, so no worker gets it any more"),
    ),
    "no_progress": (
        _("it has got no further for longer than it may"),
        _("nothing has got any further for longer than it may"),
    ),
    "remedy": (_("a person asked for it to make good, and it is on its way"), _("a person asked for a remedy")),
    "person": (_("a person says that it is still wrong"), _("a person says that something is still wrong")),
    "engine_error": (
        _("the engine met an error of its own there and set the run aside"),
        _("the engine met an error of its own there and set the run aside"),
    ),
}

# Reasons of effects that need nobody: what they wait for, or what became of them.
NOTES = {
    "dependency": _("waits for what it depends on"),
    "gate": _("waits until everything before it is settled, because it can't be undone or called off later"),
    "order": _("waits for another effect on the same resource"),
    "approval": _("waits for an approval"),
    "breaker": _("waits: its tool is failing and isn't called for a while"),
    "rate": _("waits: its tool is called as often as is allowed"),
    "version": _("waits for its tool's version"),
    "temporary": _("refused for now; it is tried again"),
    "unknown": _("a call ended without a clear answer; it is looked at before anything is sent again"),
    "in_flight": _("an earlier call with the same key is still at work; it is waited for"),
    "absent": _("a look proved that it isn't there; the same request goes out again with the same key"),
    "same_key": _("the same request goes out again with the same key, which the provider remembers"),
    "met": _("it stood there already, made by somebody else; nothing was sent, and nothing of it will be undone"),
    "adopted": _("it was there already, with our mark; nothing was sent"),
    "stopping": _("called off because its run turns back"),
    "bad_arguments": _("its arguments could not be made"),
    "look_again": _("a person asked for another look, which is under way"),
    "found_by_person": _("a person recorded that it is there"),
    "absent_by_person": _("a person recorded that it is not there"),
    "fallback": _("refused for good; another tool is tried in its place"),
    "superseded": _("what it undid was there again; a person had it undone once more, by another request"),
    "stale_read": _("what it was based on was changed since it was read; nothing was sent"),
    "twin": _("called off: what its step did before is there after all, or may be"),
    "renamed": _("called off before it left: what it speaks of is called otherwise by now; its step was begun anew"),
    "called_off": _("a person called it off before anything of it left"),
    "written_off": _("people decided to leave it as it is"),
}

HELD = _("held by a stop, or by a credential that is not accepted any more")  # of a blocked effect

# The same codes as a title of two or three words, for lists.
TITLES = {
    "refused": _("refused"),
    "limits": _("tries used up"),
    "not_sent": _("could not be sent"),
    "not_found": _("acknowledged, not found"),
    "not_undone": _("undoing not seen"),
    "seen_absent": _("looked for, not there"),
    "differs": _("differs"),
    "several": _("more than one"),
    "gone": _("there once, gone now"),
    "inconclusive": _("looks unclear"),
    "unreachable": _("can't be looked at now"),
    "no_result": _("no name to undo by"),
    "window": _("too late to undo"),
    "dependants": _("others stand on it"),
    "policy": _("policy says no"),
    "key_expired": _("key forgotten"),
    "cannot_know": _("nobody can know"),
    "already_there": _("was there before"),
    "key_mismatch": _("key taken by another request"),
    "replayed": _("failure said again"),
    "disputed": _("held by a dispute"),
    "less_remains": _("a part is left"),
    "changed": _("changed since"),
    "reversed": _("there again"),
    "undo_again": _("undone once more"),
    "late_answer": _("late answer"),
    "poll_failed": _("failed later"),
    "hold": _("held after a failure"),
    "irreversible_happened": _("irreversible happened"),
    "no_compensation": _("no way to undo"),
    "look_again": _("being looked at"),
    "budget": _("too little budget"),
    "poison": _("ends its workers"),
    "no_progress": _("no progress"),
    "remedy": _("remedy on its way"),
    "person": _("a person says so"),
    "engine_error": _("set aside by the engine"),
}


def because(code: str, *, undoing: bool = False) -> str:
    """The clause of a code. A code that isn't known here is shown as it is, never guessed at."""
    if code in CLAUSES:
        return CLAUSES[code][1 if undoing else 0]
    if code in NOTES:
        return NOTES[code]
    return _("the engine's reason is {code}", code=repr(code)) if code else _("no reason was recorded")


def title(code: str) -> str:
    return TITLES.get(code, code.replace("_", " "))


def because_of(effect: EffectFacts) -> str:
    return because(effect.reason, undoing=effect.undoing)
