"""Who is told by mail, chat or web hook, as MAKEGOOD_NOTICES says. Addresses hold secrets: they are never shown."""

from __future__ import annotations

import dataclasses
import hashlib
import re

from config.house.errors import SetupError

SETTING, BASE = "MAKEGOOD_NOTICES", "MAKEGOOD_URL"
# A comma inside an address stays one: only what looks like the next pair begins anew.
BETWEEN = re.compile(r"[,\n]+\s*(?=[^=,\n]+=\s*[a-z][a-z0-9+.-]*://|$)", re.IGNORECASE)
PAIR = re.compile(r"(?P<name>[^=]+)=\s*(?P<url>(?P<scheme>[a-z][a-z0-9+.-]*)://\S+)", re.IGNORECASE)
LONGEST_NAME = 100  # characters, as a team's
WAY_OUT = "Write role=address or team=address, as in repairer=mailto://user:password@example.org"


@dataclasses.dataclass(frozen=True, slots=True)
class Receiver:
    """`name`: a role or a team. `url`: an address of the library apprise."""

    name: str
    scheme: str
    url: str = dataclasses.field(repr=False)

    @property
    def key(self) -> str:
        """Names it in rows: the same as long as its address is, and nobody reads the address from it."""
        digest = hashlib.sha256(self.url.encode()).hexdigest()
        return f"{self.name}:{digest[:12]}"

    def __str__(self) -> str:
        return f"{self.name} by {self.scheme}"


def receivers(text: str) -> tuple[Receiver, ...]:
    """Raises `SetupError`, which shows no more of an address than its scheme."""
    found = []
    for number, part in enumerate(filter(None, (part.strip(" ,\n") for part in BETWEEN.split(text))), 1):
        pair = PAIR.fullmatch(part)
        if pair is None or len(pair["name"].strip()) > LONGEST_NAME:
            raise SetupError(
                f"Part {number} of {SETTING} is no pair of a role or team and an address.",
                setting=SETTING,
                value="(not shown: it may hold a secret)",
                way_out=WAY_OUT,
            )
        found.append(Receiver(pair["name"].strip(), pair["scheme"].lower(), pair["url"]))
    return tuple(dict.fromkeys(found))


def base(text: str) -> str:
    """The address of the console without a slash at its end, or "" where links can't be made."""
    if text and not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", text):
        raise SetupError(
            f"{BASE} must be the http(s) address at which people find the console.",
            setting=BASE,
            value=text,
            way_out=f"Set it as in {BASE}=https://makegood.example.org, or unset it: notices then have no links.",
        )
    return text.rstrip("/")
