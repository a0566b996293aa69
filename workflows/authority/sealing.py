"""Seals texts with a key that follows from the install secret: what lies in the database opens only in this house."""

from __future__ import annotations

import base64
import functools
import hmac

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"makegood credentials"  # the key serves nothing else
PRINTS = b"makegood prints of secrets"


class Unsealable(Exception):
    """It was sealed under another install secret, or changed."""


def seal(text: str) -> str:
    return _fernet(settings.INSTALL_SECRET).encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises `Unsealable`."""
    try:
        return _fernet(settings.INSTALL_SECRET).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise Unsealable from error


def print_of(text: str) -> str:
    """64 hex digits by which a text is known again, and by nobody outside this house guessed."""
    return hmac.digest(_key(settings.INSTALL_SECRET, PRINTS), text.encode(), "sha256").hex()


@functools.lru_cache(maxsize=4)
def _fernet(secret: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(_key(secret, PURPOSE)))


@functools.lru_cache(maxsize=4)
def _key(secret: str, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
