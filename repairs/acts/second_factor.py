"""A person's second factor: set up, confirmed by a code, asked for, removed. Codes and recovery codes count once.

The secret lies sealed, and is told in the answer that made it and never after. RFC 6238 with what every app assumes:
SHA-1, six digits, half a minute.
"""

from __future__ import annotations

import base64
import datetime as dt
import secrets
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from repairs.acts.door import actor
from repairs.acts.person_act import record
from repairs.models import SecondFactor
from repairs.words.marked import _
from workflows import rows
from workflows.authority.sealing import Unsealable, seal, unseal
from workflows.errors import Denied, StaleFence

SECRET_BYTES = 20  # what RFC 4226 recommends
DIGITS, STEP = 6, 30  # seconds
DRIFT = 1  # steps that a phone's clock may be off, either way
CODES, CODE_BYTES = 8, 10  # recovery codes of 80 bits: nobody guesses one, a digest of it can't be searched
FREE_TRIES = 4  # a slip of the finger is free; then each try waits twice as long as the last
FIRST_WAIT, LONGEST_WAIT = 15, 900  # seconds; at the longest, 96 tries a day against a million codes


def begin(user: User) -> str:
    """The secret, in base32, for this one answer. What was begun and not confirmed is replaced.

    Raises `StaleFence` where one is confirmed: that is removed first, by a code."""
    secret = secrets.token_bytes(SECRET_BYTES)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        if SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).exists():
            raise StaleFence(_("You have a second factor; remove it first, by one of its codes."))
        SecondFactor.objects.update_or_create(user=user, defaults={"sealed": seal(secret.hex()), "failures": 0})
    return base64.b32encode(secret).decode()


def address(user: User, secret: str) -> str:
    """What an app reads from the picture."""
    label = quote(f"Makegood:{user.get_username()}")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': 'Makegood'})}"


def confirm(user: User, code: str) -> list[str]:
    """The recovery codes, for this one answer. Raises `Denied`."""
    with transaction.atomic():
        factor = _locked(user)
        flaw = _refusal(factor, code, confirmed=False)
        if not flaw:
            codes = [secrets.token_hex(CODE_BYTES) for _one in range(CODES)]
            factor.codes = [_digest(one) for one in codes]
            factor.confirmed_at = rows.now()
            factor.save(update_fields=["codes", "confirmed_at"])
            record(user.get_username(), "second_factor_set", by=actor(user))
    if flaw:
        raise Denied(flaw)
    return codes


def check(user: User, code: str) -> int:
    """The id of the factor that the code is of. Raises `Denied`; wrong codes are counted whatever comes after."""
    with transaction.atomic():
        factor = _locked(user)
        flaw = _refusal(factor, code, confirmed=True)
    if flaw:
        raise Denied(flaw)
    return factor.pk


def remove(user: User, code: str) -> None:
    """Raises `Denied`."""
    check(user, code)
    with transaction.atomic():
        SecondFactor.objects.filter(user=user).delete()
        record(user.get_username(), "second_factor_removed", by=actor(user))


def _locked(user: User) -> SecondFactor:
    factor = SecondFactor.objects.select_for_update().filter(user=user).first()
    if factor is None:
        raise Denied(_("There is no second factor; set one up under your name."))
    return factor


def _refusal(factor: SecondFactor, typed: str, *, confirmed: bool) -> str:
    """Why the code doesn't count, and keeps that it was tried; "" where it does, and never will again."""
    now = rows.now()
    if (factor.confirmed_at is not None) != confirmed:
        return _("This second factor is not set up to its end; begin anew under your name.")
    if factor.wait_until and now < factor.wait_until:
        seconds = round((factor.wait_until - now).total_seconds())
        return _("Too many wrong codes; the next is looked at in {seconds} s.", seconds=seconds)
    code = "".join(typed.split()).lower()
    step = _step(factor, code, now)
    if step is not None:
        factor.last_step = step
    elif confirmed and _digest(code) in factor.codes:
        factor.codes = [one for one in factor.codes if one != _digest(code)]
        record(factor.user.get_username(), "recovery_code_used", by=actor(factor.user), left=len(factor.codes))
    else:
        factor.failures += 1
        if factor.failures > FREE_TRIES:
            doublings = min(factor.failures - FREE_TRIES - 1, 10)
            factor.wait_until = now + dt.timedelta(seconds=min(FIRST_WAIT * 2**doublings, LONGEST_WAIT))
        factor.save(update_fields=["failures", "wait_until"])
        return _("That code is not right, or was used before; wait for the next one.")
    factor.failures, factor.wait_until = 0, None
    factor.save(update_fields=["last_step", "codes", "failures", "wait_until"])
    return ""


def _step(factor: SecondFactor, code: str, now: dt.datetime) -> int | None:
    """The step that the code is of, if it is later than the last that counted."""
    try:
        totp = TOTP(bytes.fromhex(unseal(factor.sealed)), DIGITS, SHA1(), STEP)  # noqa: S303  what apps speak
    except Unsealable as error:
        raise Denied(_("Your second factor was made under another install secret; an admin resets it.")) from error
    present = int(now.timestamp()) // STEP
    steps = range(max(factor.last_step + 1, present - DRIFT), present + DRIFT + 1)
    return next((s for s in steps if constant_time_compare(totp.generate(s * STEP).decode(), code)), None)


def _digest(code: str) -> str:
    return salted_hmac("recovery code", code, algorithm="sha256").hexdigest()
