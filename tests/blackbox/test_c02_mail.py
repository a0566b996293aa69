"""C02: a mail goes out once. What is lost after its content is unknown, and only a mailbox can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.tools.test_smtp import MailServer
from tests.world.provider import Provider

MAIL = """
  mail.confirm:
    version: 1
    kind: smtp
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [mail.send], owner: mail-desk, customer_visible: true,
              residue: "A mail to ${ args.email } was sent."}
    scopes: ["mail:${ args.email }"]
    arguments: {type: object, required: [email], properties: {email: {type: string}}}
    retry: {attempts: 4, first: 10ms, max: 40ms}
    execute:
      to: ["${ args.email }"]
      subject: Welcome
      text: Your account is ready.
      timeout: 10s
      late: 200ms
"""
MAILBOX = """
    mailbox:
      url: "${ env.WORLD_URL }/mails?message_id=${ message_id }"
      several: "status == 200 && size(body.items) > 1"
      found: "status == 200 && size(body.items) == 1"
      absent: "status == 200 && size(body.items) == 0"
      settle: 100ms
      every: 30ms
      looks: 3
"""
CONFIRMING = manifests.workflow("onboarding", manifests.step("mail", "mail.confirm"))


class Post(MailServer):
    """What it keeps lies in the provider's collection `mails` too, where a mailbox look and the oracle find it."""

    def __init__(self, world: Provider) -> None:
        super().__init__()
        self.world = world
        self.keeps = True

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        answer = await super().handle_DATA(server, session, envelope)
        if self.keeps and answer.startswith("250"):
            identity = str(self.messages[-1][1]["Message-ID"])
            body = {"message_id": identity, "reference": identity.strip("<>").partition("@")[0]}
            self.world.book.write(self.world.book.draft("mails", "", body), body)
        return answer


@pytest.fixture
def post(world: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Post]:
    with Post(world) as server:
        monkeypatch.setenv("MAKEGOOD_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("MAKEGOOD_SMTP_PORT", str(server.port))
        yield server


def hang_up(session: SMTP) -> str:
    assert session.transport is not None
    session.transport.close()
    return "250 never heard"


def test_a_mail_whose_answer_is_lost_after_its_content_is_sent_once_and_seen_in_the_mailbox(
    story: Story, post: Post
) -> None:
    story.apply(manifests.manifest([MAIL + MAILBOX], [CONFIRMING]))
    post.replies.append(hang_up)
    story.world.script(method="GET", path="/mails", read="missing", times=2)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("mail forward") == ["unknown"]
    assert (truth.state, truth.run["clean"], truth.made["mails"]) == ("completed", True, 1)
    assert len(post.messages) == 1


def test_a_mail_that_nobody_can_look_for_is_sent_once_and_given_to_a_person(story: Story, post: Post) -> None:
    story.apply(manifests.manifest([MAIL.replace("authoritative_read", "none")], [CONFIRMING]))
    post.replies.append(hang_up)
    run = story.agent.start(email="office@acme.example")
    truth = story.truth(run)
    assert (truth.state, truth.effects, len(post.messages)) == ("stuck", {"mail forward": "stuck unknown"}, 1)
    assert truth.cases[0]["owner"] == "mail-desk"
    assert "mail to office@acme.example was sent" in truth.cases[0]["sentence"]
    story.agent.post(f"runs/{run}/cancel", {"reason": "give it up"})
    assert (story.truth(run).state, len(post.messages)) == ("stuck", 1)


def test_a_mail_that_was_lost_after_its_content_and_never_shows_is_not_sent_a_second_time(
    story: Story, post: Post
) -> None:
    story.apply(manifests.manifest([MAIL + MAILBOX], [CONFIRMING]))
    post.keeps = False
    post.replies.append(hang_up)
    truth = story.truth(story.agent.start())
    assert len(post.messages) == 1, "nothing after DATA is sent again"
    assert (truth.state, len(truth.cases)) == ("stuck", 1)


def test_a_mail_that_the_server_refuses_for_now_is_tried_again_as_the_same_message(story: Story, post: Post) -> None:
    story.apply(manifests.manifest([MAIL + MAILBOX], [CONFIRMING]))
    post.replies += ["451 greylisted, come back", "452 busy"]
    truth = story.truth(story.agent.start())
    assert truth.outcomes("mail forward") == ["temporary", "temporary", "acknowledged"]
    assert (truth.state, truth.made["mails"]) == ("completed", 1)
    identities = {str(message["Message-ID"]) for _, message in post.messages}
    assert len(identities) == 1
