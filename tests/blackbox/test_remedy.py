"""A message to a customer is a remedy with a mail tool: a second person says yes, it leaves once, the run says so."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.blackbox.test_c02_mail import CONFIRMING, MAIL, Post, post
from workflows.authority import approvals
from workflows.engine.remedy import RemedyBody, remedy
from workflows.models import Approval, Effect, Run

__all__ = ["post"]
pytestmark = pytest.mark.django_db(transaction=True)

SORRY = (
    MAIL.replace("mail.confirm", "mail.sorry")
    .replace("authoritative_read", "none")
    .replace("subject: Welcome", 'subject: "${ args.subject }"')
    .replace("text: Your account is ready.", 'text: "${ args.text }"')
    .replace("required: [email]", "required: [email, subject, text]")
    .replace("properties: {", "properties: {subject: {type: string}, text: {type: string}, ")
)
SAID = {"email": "office@acme.example", "subject": "Twice", "text": "Hello ${ env.WORLD_URL }, {case} & <b>you</b>\n"}


def test_a_message_leaves_once_after_a_second_yes_word_for_word_and_is_stated(story: Story, post: Post) -> None:
    story.apply(manifests.manifest([MAIL.replace("authoritative_read", "none"), SORRY], [CONFIRMING]))
    run = story.agent.start(email="office@acme.example")
    story.settle()
    confirmed = Effect.objects.get(run__id=run)
    body = RemedyBody(tool="mail.sorry", arguments=SAID, makes_good=confirmed.id)
    made, _ = remedy(Run.objects.get(id=run).id, body, by="person:night-desk", why="it went out twice")
    story.settle()
    assert len(post.messages) == 1, "it left before anybody said yes"
    other = User.objects.create_user("day-desk", is_staff=True)
    other.groups.add(Group.objects.get(name="approver"))
    assert Effect.objects.get(id=made.id).reach == 1, "the address that was written to before, counted once"
    asked = Approval.objects.get(effect=made)
    approvals.vote(asked.id, by=other, why="they must know", seen_digest=asked.digest)
    story.settle()
    assert len(post.messages) == 2
    message = post.messages[-1][1]
    assert message["Message-ID"].startswith(f"<{made.key}@")
    assert (message["Subject"], message.get_payload().rstrip()) == ("Twice", SAID["text"].rstrip())
    truth = story.truth(run)
    assert truth.effects == {"mail forward": "acknowledged unknown", "remedy-1 remedy": "acknowledged unknown"}
    assert truth.state == "repaired"
    told = {row["effect"]: row["statement"] for row in truth.run["residue"]}
    assert told[str(confirmed.id)].endswith(
        "Made good, by the provider's word: A mail to office@acme.example was sent."
    )
