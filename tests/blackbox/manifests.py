"""The manifests of the black-box stories: YAML as an author would write it, with waits short enough for tests.

`tool()` and `workflow()` give text; `manifest()` joins it. Whatever a story is about is written out in the story.
"""

from __future__ import annotations

from collections.abc import Iterable

HONOURED = "{by: native_key, retention: 1h}"
KEYLESS = "{by: none}"
RETRY = "{attempts: 4, first: 10ms, max: 40ms, within: 5m}"
PATIENT = "{breaker: {after: 1000, within: 1s}}"  # stories break one tool often, and speak of other things
ASKING = "{settle: 100ms, every: 30ms, looks: 3, within: 2m}"
NO_LAG = "{settle: 0s, every: 20ms, looks: 3, within: 2m}"  # its search shows everything at once, it says

TOOL = """
  @name@:
    version: 1
    kind: http
    profile: {effect_class: @effect_class@, access: write, environment: trusted, observability: @observability@,
              autonomy: auto, privileges: [outside.write], owner: @owner@, customer_visible: true,
              residue: "@residue@"}
    idempotency: @by@
    scopes: ["@collection@:${ args.email.lowerAscii() }"]
    arguments: @arguments@
    retry: @retry@
    limits: @limits@
    execute:
      method: POST
      url: "${ env.WORLD_URL }/@collection@"
      headers: @headers@
      json: @json@
      timeout: @timeout@
      late: @late@
      acknowledged: "@acknowledged@"
      result: @result@
"""

ARGUMENTS = (
    "{type: object, required: [email], additionalProperties: false,"
    " properties: {email: {type: string}, amount: {type: integer}}}"
)

VERIFY = """
    verify:
      url: "${ env.WORLD_URL }/@collection@?reference=${ key }"
      several: "status == 200 && size(body.items) > 1"
      differs: "status == 200 && size(body.items) == 1 && body.items[0].email != args.email"
      found: "status == 200 && size(body.items) == 1"
      absent: "status == 200 && size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
"""

COMPENSATE = """
    compensate:
      method: DELETE
      url: "${ env.WORLD_URL }/@collection@/${ result.id }"
      headers: {Idempotency-Key: "${ key }"}
      verify: {url: "${ env.WORLD_URL }/@collection@/${ result.id }",
               found: "status in [404, 410]", absent: "status == 200"}
"""


def tool(
    name: str,
    collection: str,
    *,
    by: str = HONOURED,
    effect_class: str = "reversible",
    observability: str = "authoritative_read",
    residue: str = "A record for ${ args.email } stands in @collection@.",
    arguments: str = ARGUMENTS,
    headers: str = '{Idempotency-Key: "${ key }"}',
    json: str = '{email: "${ args.email }", reference: "${ key }"}',
    timeout: str = "10s",
    late: str = "200ms",
    acknowledged: str = "status in [200, 201] && has(body.id)",
    result: str = '{id: "${ body.id }"}',
    execute: str = "",
    verify: str | None = VERIFY,
    asking: str = ASKING,
    compensate: str | None = COMPENSATE,
    undoing: str = "",
    retry: str = RETRY,
    limits: str = PATIENT,
) -> str:
    """One tool that POSTs to a collection of the lying provider. `execute` and `undoing`: further fields of these
    parts, one a line, `name: value`. `asking`: the times of its looks."""
    parts = [TOOL, *(f"      {line.strip()}" for line in execute.strip().splitlines())]
    if verify is not None:
        times = asking.strip("{}").split(", ")
        parts += [verify.rstrip(), *(f"      {line}" for line in times)]
    if compensate is not None:
        parts += [compensate.rstrip(), *(f"      {line.strip()}" for line in undoing.strip().splitlines())]
    values = {
        "residue": residue,  # first: it may name the collection
        "name": name,
        "owner": f"{collection}-desk",
        "collection": collection,
        "by": by,
        "effect_class": effect_class,
        "observability": observability,
        "arguments": arguments,
        "headers": headers,
        "json": json,
        "timeout": timeout,
        "late": late,
        "acknowledged": acknowledged,
        "result": result,
        "retry": retry,
        "limits": limits,
    }
    text = "\n".join(part.strip("\n") for part in parts)
    for word, value in values.items():
        text = text.replace(f"@{word}@", value)
    return text


def step(name: str, tool: str, *, after: str = "", arguments: str = '{email: "${ input.email }"}') -> str:
    """`after`: "" for the step before, else a YAML list."""
    follows = f", after: {after}" if after else ""
    return f"      - {{name: {name}, tool: {tool}{follows}, arguments: {arguments}}}"


def workflow(name: str, *steps: str, options: str = "") -> str:
    """`options`: fields of the workflow, one a line."""
    head = [
        f"  {name}:",
        "    version: 1",
        "    owner: onboarding-desk",
        *(f"    {line.strip()}" for line in options.strip().splitlines()),
        "    input: {type: object, required: [email], properties: {email: {type: string}, amount: {type: integer}}}",
        "    steps:",
    ]
    return "\n".join([*head, *steps])


def manifest(tools: Iterable[str], workflows: Iterable[str] = ()) -> str:
    parts = ["tools:", *tools]
    if workflows:
        parts += ["workflows:", *workflows]
    return "\n".join(parts) + "\n"


CONTACT = tool("crm.contact", "contacts")
MEMBER = tool("audience.member", "members")
BOOKING = tool("calendar.booking", "bookings")


def three_steps(*, contact: str = CONTACT, member: str = MEMBER, booking: str = BOOKING, options: str = "") -> str:
    """The workflow `onboarding`: contact, then member, then booking."""
    steps = [step("contact", "crm.contact"), step("member", "audience.member"), step("booking", "calendar.booking")]
    return manifest([contact, member, booking], [workflow("onboarding", *steps, options=options)])


def one_step(contact: str = CONTACT, *, options: str = "") -> str:
    """The workflow `onboarding` of one step, contact."""
    return manifest([contact], [workflow("onboarding", step("contact", "crm.contact"), options=options)])
