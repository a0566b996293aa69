"""An agent that onboards customers through Makegood's HTTP API, and all that it knows of Makegood is that API.

    python -m examples.demo.agent --url http://127.0.0.1:8000 --key mg_... --story 1 --story 2

Played again, a story is the same run: its Idempotency-Key is the story and the e-mail. `--email` plays it anew.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from typing import Any

Json = dict[str, Any]

# The API answers after this many seconds at the latest; ours is a little more patient than that.
WAIT = 30
PATIENCE = 45.0
# A run that ends neither well nor stuck by then is reported as it is: two leases of the slowest tool and some.
LONGEST_STORY = 180.0
BREATH = 0.2
MOVING = ("ready", "dispatched", "pending", "acknowledged", "unknown")


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    title: str
    customer: str
    workflow: str

    @property
    def email(self) -> str:
        return f"onboarding@{self.customer.lower()}.example"


STORIES = {
    1: Story("All goes well", "Acme", "client-onboarding"),
    2: Story("The calendar books the meeting and its answer is lost", "Bolt", "client-onboarding"),
    3: Story("The CRM refuses at the end; all before it is compensated", "Cobalt", "client-onboarding-strict"),
    4: Story("The CRM refuses and the meeting can't be cancelled", "Delta", "client-onboarding-strict"),
    5: Story("The worker is killed while the CRM works", "Ember", "client-onboarding"),
}


class Api:
    """Makegood's API. Raises Problem where it says no."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url.rstrip("/"), key

    def call(self, method: str, path: str, body: Json | None = None, **headers: str) -> Json:
        request = urllib.request.Request(  # noqa: S310 - the address is the operator's own
            f"{self.url}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
                return dict(json.load(answer))
        except urllib.error.HTTPError as error:
            raise Problem(f"{method} {path}: {error.code} {error.read().decode('utf-8', 'replace')}") from error


class Problem(Exception):
    """The API said no, and why."""


def play(api: Api, number: int, email: str = "") -> Json:
    """Plays a story to its end and returns the run as the API tells it."""
    return follow(api, begin(api, number, email))


def begin(api: Api, number: int, email: str = "") -> Json:
    """Starts the story's run, or finds it where it was begun before."""
    story = STORIES[number]
    email = email or story.email
    body = {
        "workflow": story.workflow,
        "subject": {"type": "customer", "id": email, "label": story.customer},
        "input": {
            "customer": story.customer,
            "email": email,
            "start": "2031-05-06T10:00",
            "end": "2031-05-06T10:45",
            "timezone": "Europe/Berlin",
        },
    }
    return api.call("POST", "runs", body, **{"Idempotency-Key": f"demo-{number}-{email}"})


def follow(api: Api, run: Json) -> Json:
    """Waits until the run is over, or needs a person and nothing else of it moves."""
    end = time.monotonic() + LONGEST_STORY
    while run["phase"] != "over" and not (run["state"] == "stuck" and at_rest(run)) and time.monotonic() < end:
        # A stuck run is answered at once; its other branches are asked for again after a breath.
        time.sleep(BREATH if run["state"] == "stuck" else 0)
        run = api.call("GET", f"runs/{run['id']}", Prefer=f"wait={WAIT}")
    return run


def at_rest(run: Json) -> bool:
    """Nothing is under way, and what was seen undone is called undone."""
    undone = {e["compensates"] for e in run["effects"] if e["kind"] == "compensation" and e["state"] == "verified"}
    return not any(
        (effect["state"] in MOVING and (effect["state"] != "acknowledged" or effect["verifiable"]))
        or (effect["id"] in undone and effect["state"] != "undone")
        for effect in run["effects"]
    )


def kill_in_the_middle(api: Api, run: str, worker: int) -> None:
    """Waits until the worker's call to the CRM is under way, then kills it without a word."""
    end = time.monotonic() + LONGEST_STORY
    while time.monotonic() < end:
        effects = api.call("GET", f"runs/{run}")["effects"]
        if any(effect["state"] == "dispatched" for effect in effects):
            os.kill(worker, signal.SIGKILL)
            return
        time.sleep(0.1)


def tell(number: int, run: Json) -> str:
    """What truly happened, for a person."""
    clean = {True: "clean", False: "not clean", None: "not over"}[run["clean"]]
    lines = [f"Story {number}. {STORIES[number].title}.", f"  run {run['id']}: {run['state']}, {clean}"]
    for effect in run["effects"]:
        what = "compensates " if effect["kind"] == "compensation" else ""
        reason = f" ({effect['reason']})" if effect["reason"] else ""
        lines.append(f"  {what + effect['tool']:38} {effect['state']:12} world: {effect['world']}{reason}")
    for wait in run["blocked_by"]:
        whom = ", ".join(f"{name} {value}" for one in wait["by"] for name, value in one.items())
        lines.append(f"  {wait['step']} waits ({wait['reason']}): {whom}")
    lines += [f"  remains: {residue['statement']}" for residue in run["residue"]]
    lines += [f"  a person is asked: {case['sentence']}" for case in run["cases"]]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("MAKEGOOD_URL", "http://127.0.0.1:8000"))
    parser.add_argument("--key", default=os.environ.get("MAKEGOOD_KEY"), help="an agent's key (or MAKEGOOD_KEY)")
    parser.add_argument("--story", type=int, action="append", choices=STORIES, help="may be given several times")
    parser.add_argument("--email", default="", help="another address at the story's domain: the story anew")
    parser.add_argument("--worker-pid", type=int, help="story 5: the process to kill once the call is under way")
    arguments = parser.parse_args()
    if not arguments.key:
        parser.error("--key is missing: manage.py create_agent NAME --tools '*' --workflows '*' prints one")
    api = Api(arguments.url, arguments.key)
    for number in arguments.story or [1]:
        try:
            run = begin(api, number, arguments.email)
            if number == 5 and arguments.worker_pid:
                kill_in_the_middle(api, run["id"], arguments.worker_pid)
            print(tell(number, follow(api, run)), flush=True)
        except (Problem, OSError) as error:
            print(f"Story {number}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
