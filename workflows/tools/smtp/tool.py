"""The kind smtp: one mail, handed over once, whose fate after its content was begun only a mailbox can tell."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import TYPE_CHECKING, Any

from workflows.outcomes import Acknowledged, NotSent, Outcome, Refused, Rejected, Sighting, Unknown, Verdict
from workflows.tools import secrets
from workflows.tools.base import Tool
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.http import looking
from workflows.tools.http.attempt import unmade
from workflows.tools.keeping import keepable
from workflows.tools.smtp import drafting, imap, message
from workflows.tools.smtp.session import PASSWORD, Broken, NotKnown, Said, Server, deliver, server_of_settings
from workflows.tools.tokens import Needs
from workflows.tools.wire.messages import Forbidden

if TYPE_CHECKING:
    from workflows.tools.call import Call
    from workflows.tools.draft import Draft


class SmtpTool(Tool):
    """The Message-ID is made of the effect's key, so every attempt is the same message."""

    def needs(self, operation: str) -> Needs:
        """The server's password too, which no manifest names."""
        needs = super().needs(operation)
        if operation != "execute" or not os.environ.get("MAKEGOOD_SMTP_USER"):
            return needs
        return dataclasses.replace(needs, secrets=needs.secrets | {PASSWORD})

    def send(self, call: Call) -> Outcome:
        if call.operation != "execute":
            return super().send(call)
        part = self.spec["execute"]
        try:
            server = server_of_settings()
            mail = message.make(part, self.names(call), call.key, call.now)
        except ExpressionError as error:
            return unmade("mail", error)
        except ValueError as error:
            return NotSent(reason=f"no mail server: {error}", ours=True)
        began = time.monotonic()
        try:
            words = deliver(mail, server, timeout=part["timeout"])
        except NotKnown as said:
            kept, rejected = _evidence(mail, server, began), Rejected(secrets={PASSWORD: said.password})
            reason = secrets.hidden(f"the mail server does not accept who asks: {said}", said.password, PASSWORD)
            return Refused(reason=reason, temporary=True, rejected=rejected, evidence=kept)
        except Said as said:
            kept = _evidence(mail, server, began)
            return Refused(reason=f"the mail server refused: {said}", temporary=said.temporary, evidence=kept)
        except Broken as broken:
            kept = _evidence(mail, server, began)
            return (Unknown if broken.begun else NotSent)(reason=str(broken), evidence=kept)
        except Forbidden as error:
            return Refused(reason=str(error), evidence=_evidence(mail, server, began))
        kept = _evidence(mail, server, began) | {"said": words}
        return Acknowledged(result={"message_id": mail.message_id}, evidence=kept)

    def look(self, call: Call) -> Sighting:
        verify = self.spec.get("verify")
        if verify is None or call.operation != "execute":
            return super().look(call)
        names, part = self.names(call), self.spec["execute"]
        try:
            identity = message.message_id(call.key, message.sender_of(part, names))
            if "imap" not in verify["mailbox"]:
                names |= {"message_id": identity}
                seen = looking.look(verify["mailbox"], names, timeout=part["timeout"], tokens=call.tokens)
            else:
                used = secrets.Secrets()
                box = used.wired(fill(verify["mailbox"]["imap"], names, "imap", with_secrets=True))
                seen = imap.look(box, identity, timeout=part["timeout"], used=used.used)
        except ExpressionError as error:
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason=f"the look can't be made: {error}")
        if seen.verdict is not Verdict.FOUND:
            return seen
        result = {"message_id": identity, **seen.result}
        return Sighting(verdict=seen.verdict, reason=seen.reason, result=result, evidence=seen.evidence)

    def draft(self, call: Call) -> list[Draft]:
        return [drafting.mail(self.spec["execute"], self.names(call), call)] if call.operation == "execute" else []

    def draft_look(self, call: Call) -> list[Draft]:
        verify = self.spec.get("verify")
        if verify is None or call.operation != "execute":
            return []
        return [drafting.mailbox(verify["mailbox"], self.spec["execute"], self.names(call), call)]


def _evidence(mail: message.Mail, server: Server, began: float) -> dict[str, Any]:
    asked = {"message_id": mail.message_id, "from": mail.sender, "to": list(mail.receivers), "digest": mail.digest}
    kept: dict[str, Any] = keepable(
        {"request": asked, "server": f"{server.host}:{server.port}", "seconds": round(time.monotonic() - began, 3)}
    )
    return kept
