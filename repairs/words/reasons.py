"""Why an effect needs a person, as a clause that may follow a semicolon. The codes are the engine's; each is said."""

from __future__ import annotations

from repairs.words.facts import EffectFacts

# code -> (of a forward or remedial effect, of an undoing)
CLAUSES: dict[str, tuple[str, str]] = {
    "refused": ("the provider refused it for good", "the provider refused for good to undo it"),
    "limits": ("every try that is allowed was used up", "every try to undo it that is allowed was used up"),
    "not_sent": (
        "the request could not be sent in the time allowed",
        "the undoing could not be sent in the time allowed",
    ),
    "not_found": ("the provider said yes, but no look finds it", "no look finds that it was undone"),
    "not_undone": ("no look finds that it was done", "the provider said that it was undone, but no look finds that"),
    "seen_absent": (
        "a look that a person asked for shows nothing of it",
        "a look that a person asked for shows that it was not undone",
    ),
    "differs": (
        "a look found something that isn't ours, or isn't as asked",
        "a look found something that isn't ours, or isn't as we left it",
    ),
    "several": ("a look found more than one", "a look found more than one"),
    "gone": ("it was there, and is gone, and we did not undo it", "it was there, and is gone"),
    "inconclusive": ("the looks gave no clear answer", "the looks at its undoing gave no clear answer"),
    "unreachable": (
        "the system that would know could not be reached",
        "the system that would know whether it was undone could not be reached",
    ),
    "no_result": (
        "what names it at the provider was never learned",
        "what names it at the provider was never learned, so it can't be undone",
    ),
    "window": ("the time in which it may be sent is over", "the time in which it may be undone is over"),
    "dependants": ("later work of other runs stands on it", "later work of other runs stands on it"),
    "policy": ("policy does not allow it to be sent", "policy does not allow it to be undone"),
    "key_expired": (
        "the provider no longer remembers our key, and nothing else would stop it from happening twice",
        "the provider no longer remembers our key, and nothing else would stop the undoing from happening twice",
    ),
    "key_mismatch": (
        "the provider says that our key came with another request before, so no send can follow",
        "the provider says that our key came with another request before, so the undoing can't be sent again",
    ),
    "replayed": (
        "the provider says its failure again whenever our key comes",
        "the provider says its failure to undo it again whenever our key comes",
    ),
    "cannot_know": (
        "nobody can know what a send without an answer did, and nothing would keep a second one from doing it twice",
        "nobody can know what an undoing without an answer did, and nothing would keep a second one from acting twice",
    ),
    "already_there": (
        "it stood there before we sent anything, and does not carry our mark",
        "it stood there before we sent anything, and does not carry our mark",
    ),
    "disputed": (
        "something else at the provider holds it, a dispute say",
        "something else at the provider holds it, a dispute say, so it was not undone",
    ),
    "less_remains": (
        "less than the whole is left",
        "a part of it was undone already by somebody else, and less than the whole is left",
    ),
    "changed": (
        "it was changed since, so the request that named its version was refused",
        "what it undoes was changed since, so the undoing that named its version was refused",
    ),
    "reversed": ("it was undone and is there again", "it was undone, which a look showed, and it is there again"),
    "undo_again": ("it is undone once more", "it is undone once more"),
    "late_answer": (
        "an answer that came late contradicts what was recorded",
        "an answer that came late contradicts what was recorded of its undoing",
    ),
    "poll_failed": (
        "the provider took the work on and reported later that it failed",
        "the provider took the undoing on and reported later that it failed",
    ),
    "hold": (
        "a step failed, and this workflow is told to stop there",
        "a step failed, and this workflow is told to stop there",
    ),
    "irreversible_happened": (
        "it can't be undone, and a step of the same run failed",
        "something that can't be undone happened, or may have, and a step of the same run failed",
    ),
    "no_compensation": ("its tool declares no way to undo it", "its tool declares no way to undo it"),
    "budget": ("too little is left of its budget", "too little is left of its budget"),
    "poison": (
        "every worker that took it died or never came back, so no worker gets it any more",
        "every worker that took its undoing died or never came back, so no worker gets it any more",
    ),
    "no_progress": (
        "it has got no further for longer than it may",
        "nothing has got any further for longer than it may",
    ),
    "remedy": ("a person asked for it to make good, and it is on its way", "a person asked for a remedy"),
    "person": ("a person says that it is still wrong", "a person says that something is still wrong"),
    "engine_error": (
        "the engine met an error of its own there and set the run aside",
        "the engine met an error of its own there and set the run aside",
    ),
}

# Reasons of effects that need nobody: what they wait for, or what became of them.
NOTES = {
    "dependency": "waits for what it depends on",
    "gate": "waits until everything before it is settled, because it can't be undone or called off later",
    "order": "waits for another effect on the same resource",
    "approval": "waits for an approval",
    "breaker": "waits: its tool is failing and isn't called for a while",
    "rate": "waits: its tool is called as often as is allowed",
    "version": "waits for its tool's version",
    "temporary": "refused for now; it is tried again",
    "unknown": "a call ended without a clear answer; it is looked at before anything is sent again",
    "in_flight": "an earlier call with the same key is still at work; it is waited for",
    "absent": "a look proved that it isn't there; the same request goes out again with the same key",
    "same_key": "the same request goes out again with the same key, which the provider remembers",
    "met": "it stood there already, made by somebody else; nothing was sent, and nothing of it will be undone",
    "adopted": "it was there already, with our mark; nothing was sent",
    "stopping": "called off because its run turns back",
    "bad_arguments": "its arguments could not be made",
    "look_again": "a person asked for another look, which is under way",
    "found_by_person": "a person recorded that it is there",
    "absent_by_person": "a person recorded that it is not there",
    "fallback": "refused for good; another tool is tried in its place",
    "superseded": "what it undid was there again; a person had it undone once more, by another request",
    "stale_read": "what it was based on was changed since it was read; nothing was sent",
    "called_off": "a person called it off before anything of it left",
    "written_off": "people decided to leave it as it is",
}

HELD = "held by a stop, or by a credential that is not accepted any more"  # of a blocked effect

# The same codes as a title of two or three words, for lists.
TITLES = {
    "refused": "refused",
    "limits": "tries used up",
    "not_sent": "could not be sent",
    "not_found": "acknowledged, not found",
    "not_undone": "undoing not seen",
    "seen_absent": "looked for, not there",
    "differs": "differs",
    "several": "more than one",
    "gone": "there once, gone now",
    "inconclusive": "looks unclear",
    "unreachable": "can't be looked at now",
    "no_result": "no name to undo by",
    "window": "too late to undo",
    "dependants": "others stand on it",
    "policy": "policy says no",
    "key_expired": "key forgotten",
    "cannot_know": "nobody can know",
    "already_there": "was there before",
    "key_mismatch": "key taken by another request",
    "replayed": "failure said again",
    "disputed": "held by a dispute",
    "less_remains": "a part is left",
    "changed": "changed since",
    "reversed": "there again",
    "undo_again": "undone once more",
    "late_answer": "late answer",
    "poll_failed": "failed later",
    "hold": "held after a failure",
    "irreversible_happened": "irreversible happened",
    "no_compensation": "no way to undo",
    "look_again": "being looked at",
    "budget": "too little budget",
    "poison": "ends its workers",
    "no_progress": "no progress",
    "remedy": "remedy on its way",
    "person": "a person says so",
    "engine_error": "set aside by the engine",
}


def because(code: str, *, undoing: bool = False) -> str:
    """The clause of a code. A code that isn't known here is shown as it is, never guessed at."""
    if code in CLAUSES:
        return CLAUSES[code][1 if undoing else 0]
    if code in NOTES:
        return NOTES[code]
    return f"the engine's reason is {code!r}" if code else "no reason was recorded"


def title(code: str) -> str:
    return TITLES.get(code, code.replace("_", " "))


def because_of(effect: EffectFacts) -> str:
    return because(effect.reason, undoing=effect.undoing)
