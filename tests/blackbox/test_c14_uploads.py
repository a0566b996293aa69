"""C14: an upload that is sent again is the same request: by its content, its names and fields, not by its wrapping."""

from __future__ import annotations

import base64
import hashlib

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

CONTENT = b"%PDF-1.7 \x00\xff the joined file\r\n--boundary--\r\n"
ARGUMENTS = (
    "{type: object, required: [email], additionalProperties: false,"
    " properties: {email: {type: string}, content: {type: string}, digest: {type: string}, file: {type: string}}}"
)
VERIFY = """
    verify:
      url: "${ env.WORLD_URL }/files?reference=${ key }"
      several: "size(body.items) > 1"
      differs: "size(body.items) == 1 && !body.items[0].upload.endsWith(args.digest)"
      found: "size(body.items) == 1"
      absent: "size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
"""
UPLOAD = """      multipart:
        - {name: reference, value: "${ key }"}
        - {name: upload, file: "${ args.file }", type: application/pdf, base64: "${ args.content }"}
"""


def upload(**fields: str) -> str:
    text = manifests.tool(
        "crm.contact", "files", arguments=ARGUMENTS, verify=VERIFY, asking=manifests.NO_LAG, json="@form@", **fields
    )
    return text.replace("      json: @form@\n", UPLOAD)


def start(story: Story, *, file: str = "Übersicht.pdf", content: bytes = CONTENT) -> str:
    run = story.agent.start(None, open=True)
    digest = hashlib.sha256(CONTENT).hexdigest()
    told = {"content": base64.b64encode(content).decode(), "digest": digest, "file": file}
    story.agent.step(run, "contact", "crm.contact", email="a@acme.example", **told)
    story.agent.post(f"runs/{run}/seal")
    return run


@pytest.mark.parametrize("keys", ["honoured", "strict"])
def test_a_repeated_upload_is_the_same_request_even_to_who_compares_bytes(story: Story, keys: str) -> None:
    """The firewall cut the first answer, one look came too early, and the repeat is answered from memory."""
    story.apply(manifests.manifest([upload()]))
    story.world.script(method="POST", keys=keys, times=None)
    story.world.script(method="POST", answer="cut")
    story.world.script(method="GET", read="missing")
    truth = story.truth(start(story))
    assert truth.outcomes("contact forward") == ["unknown", "acknowledged"]
    assert (truth.state, truth.made["files"]) == ("completed", 1)
    first, second = story.world.wire("POST")
    assert (first.raw, first.key, first.headers["content-type"]) == (
        second.raw,
        second.key,
        second.headers["content-type"],
    )
    assert first.body["upload"] == f"Übersicht.pdf:{hashlib.sha256(CONTENT).hexdigest()}"
    digests = {a["evidence"]["request"]["digest"] for a in truth.details["contact forward"]["attempts"]}
    assert len(digests) == 1


def test_the_name_of_a_file_is_the_same_in_whatever_form_it_was_typed(story: Story) -> None:
    story.apply(manifests.manifest([upload()]))
    for name in ("U\u0308bersicht.pdf", "C:\\temp\\Übersicht.pdf"):
        assert story.truth(start(story, file=name)).state == "completed"
    names = {w.body["upload"].split(":")[0] for w in story.world.wire("POST")}
    assert names == {"Übersicht.pdf"}


def test_another_content_is_another_request_and_what_stands_is_told_by_its_digest(story: Story) -> None:
    story.apply(manifests.manifest([upload()]))
    story.world.script(method="POST", answer="cut")
    truth = story.truth(start(story, content=b"cut off"))
    assert truth.effects == {"contact forward": "stuck differs"}


def test_what_can_not_be_a_form_is_refused_before_anything_is_sent(story: Story) -> None:
    story.apply(manifests.manifest([upload()]))
    truth = story.truth(start(story, file='a"; name="reference'))
    assert (truth.state, truth.effects) == ("failed", {"contact forward": "failed nothing"})
    assert "without quotes" in truth.details["contact forward"]["detail"]
    assert story.world.wire("POST") == []
