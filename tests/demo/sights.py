"""What the outside services hold about one customer, read from themselves and not through Makegood."""

from __future__ import annotations

import dataclasses
from typing import Any

import httpx

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Sight:
    """How many of each stand outside for one e-mail address."""

    contacts: int
    active: int
    members: int
    events: int
    mails: int


@dataclasses.dataclass(frozen=True, slots=True)
class Outside:
    """The services at these addresses."""

    environment: dict[str, str]
    web: httpx.Client

    def sight(self, email: str) -> Sight:
        contacts = self.contacts(email)
        active = [self._get("CRM_URL", f"contacts/{c['id']}/activation").status_code == 200 for c in contacts]
        return Sight(
            contacts=len(contacts),
            active=sum(active),
            members=len([m for m in self.members() if m["email"] == email]),
            events=self.calendar().count(f"mailto:{email}"),
            mails=len(self._get("INBOX_URL", f"messages?to={email}").json()["items"]),
        )

    def contacts(self, email: str) -> list[Json]:
        return list(self._get("CRM_URL", f"contacts?email={email}").json()["items"])

    def members(self, audience: str = "onboarding") -> list[Json]:
        return list(self._get("AUDIENCE_URL", f"audiences/{audience}/members").json()["items"])

    def calendar(self) -> str:
        """All events, unfolded."""
        return self._get("CALENDAR_URL", "demo/onboarding/").text.replace("\r\n ", "").replace("\n ", "").lower()

    def _get(self, service: str, path: str) -> httpx.Response:
        return self.web.get(f"{self.environment[service]}/{path}")
