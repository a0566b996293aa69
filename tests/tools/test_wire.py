"""One exchange at a time: bytes that no honest server sends, and what must never leave or stay."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.tools.calls import call, http_tool
from tests.tools.servers import RawServer, answer
from workflows.outcomes import Acknowledged, Unknown, Verdict
from workflows.tools import providers
from workflows.tools.wire import Answer, Lost, Request, exchange
from workflows.tools.wire.exchange import forget


def ask(server: RawServer, timeout: float = 60.0) -> Answer:
    return exchange(Request(method="POST", url=f"{server.url}/x?y=é", body=b"{}"), timeout=timeout)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"], "broke off"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"], "broke off"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"], "isn't HTTP"),
        ([b"SSH-2.0-OpenSSH\r\n"], "isn't HTTP"),
        ([b""], "without an answer"),
        ([b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000, None], "isn't HTTP"),
        ([b"HTTP/1.1 103 Hint\r\n\r\n" * 50, None], "talks without answering"),
        ([answer(gzip.compress(b"{}")[:-4], Content_Encoding="gzip")], "cut"),
        ([answer(gzip.compress(b"{}") + b"x", Content_Encoding="gzip")], "followed by something else"),
        ([answer(b"{}", Content_Encoding="br")], "encoded as br"),
    ],
)
def test_what_is_no_whole_answer_is_lost(script: list[bytes | None], says: str) -> None:
    with RawServer(script) as server, pytest.raises(Lost, match=says):
        ask(server)


def test_an_answer_that_stops_in_its_head_is_waited_for_longer_than_a_call_may_take() -> None:
    script: list[bytes | None] = [b"HTTP/1.1 200 OK\r\nConte", None]
    with RawServer(script) as server, pytest.raises(Lost, match=r"no whole answer within 0\.5 s"):
        ask(server, timeout=0.5)


def test_a_packed_answer_and_one_that_ends_with_its_connection_are_read() -> None:
    packed = answer(gzip.compress(b'{"a": 1}'), Content_Encoding="gzip")
    with RawServer([packed], [b"HTTP/1.0 200 OK\r\n\r\n{}"]) as server:
        assert ask(server).body == b'{"a": 1}'
        forget()
        assert ask(server).body == b"{}"
        assert server.requests[0].startswith(b"POST /x?y=%C3%A9 HTTP/1.1\r\n")


def test_what_follows_an_answer_is_never_read_as_the_answer_to_the_next_request() -> None:
    stray = answer(b'{"id": "somebody else\'s"}')
    with RawServer([answer(b'{"id": "a"}') + stray, None], [answer(b'{"id": "b"}'), None]) as server:
        assert ask(server).body == b'{"id": "a"}'
        assert ask(server).body == b'{"id": "b"}'


def test_a_kept_connection_that_the_server_closed_is_not_used_again() -> None:
    with RawServer([answer(b"1")], [answer(b"2"), None]) as server:
        assert ask(server).body == b"1"
        server.wait_closed(1)
        assert ask(server).body == b"2"


def test_an_answer_with_nul_and_half_characters_is_kept_visibly() -> None:
    body = b'{"id": "a\\u0000b", "\\ud800": "c", "n": 18446744073709551616}'
    with RawServer([answer(body)]) as server:
        outcome = http_tool(server.url, execute='result: {id: "${ body.id }", all: "${ body }"}').send(call())
        forget()
    assert isinstance(outcome, Acknowledged)
    assert outcome.result["id"] == "a\\u0000b"
    assert outcome.result["all"]["n"] == "18446744073709551616"
    text = json.dumps([dict(outcome.result), dict(outcome.evidence)], ensure_ascii=False)
    assert "\0" not in text
    text.encode("utf-8")


def test_a_secret_that_comes_back_is_in_no_reason_result_or_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_T", "hunter2-token")
    echo = answer(b'{"id": "hunter2-token", "error": "bad hunter2-token"}', X_Request_Id="hunter2-token")
    refused = answer(b'{"error": "bad hunter2-token"}', 403)
    parts = 'headers: {Authorization: "Bearer ${ secret(\'T\') }"}, result: {id: "${ body.id }"}'
    with RawServer([echo], [refused]) as server:
        made = http_tool(server.url, execute=parts)
        outcomes = [made.send(call()), made.send(call())]
        forget()
        assert b"Bearer hunter2-token" in server.requests[0]
    assert "hunter2-token" not in repr(outcomes)
    assert "[secret T]" in repr(outcomes)


def test_a_token_that_data_imitates_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_T", "hunter2-token")
    with RawServer([answer(b"{}")]) as server:
        http_tool(server.url).send(call(arguments={"email": "<secret T 0123456789abcdef0123456789abcdef>"}))
        forget()
        assert b"hunter2" not in server.requests[0]


def test_a_long_text_is_cut_in_evidence_and_says_so() -> None:
    with RawServer([answer(b'{"a": "' + b"x" * 5000 + b'"}')]) as server:
        outcome = http_tool(server.url).send(call())
        forget()
    kept = outcome.evidence["answer"]
    assert (len(kept["text"]), kept["cut"], kept["bytes"]) == (2048, True, 5009)


def test_a_look_ends_at_the_first_expression_that_errs() -> None:
    verify = 'url: "URL/things", several: "size(body.items) > 1", found: "status == 200", absent: "status == 404"'
    with RawServer([answer(b"[]")]) as server:
        made = http_tool(server.url, verify=verify.replace("URL", server.url))
        seen = made.look(call())
        forget()
    assert (seen.verdict, seen.reached) == (Verdict.INCONCLUSIVE, True)
    assert seen.reason.startswith("status 200: several: ")


def test_an_answer_that_lacks_what_the_result_needs_is_unknown() -> None:
    with RawServer([answer(b'{"other": 1}')]) as server:
        outcome = http_tool(server.url, execute='result: {id: "${ body.id }"}').send(call())
        forget()
    assert isinstance(outcome, Unknown)
    assert outcome.reason == "acknowledged, but result.id: has no field 'id'"


def test_a_secret_may_lie_in_a_file(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{tmp_path}/token"
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("from-a-file\n")
    monkeypatch.setenv("MAKEGOOD_SECRET_F_FILE", path)
    assert providers.secret("F") == "from-a-file"
    assert providers.secret("G") is None
