"""What the soak runs: four acts on a lying provider, the last of which can't be undone, as an author writes it."""

from __future__ import annotations

TIMES = "settle: 200ms, every: 100ms, looks: 4, within: 5m"
TOOL = """
  soak.{name}:
    version: 1
    kind: http
    profile: {{effect_class: {effect_class}, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [], owner: soak-desk, customer_visible: true,
              residue: "A record of {name} stands for ${{ args.email }}."}}
    idempotency: {by}
    scopes: ["{name}:${{ args.email }}"]
    arguments: {{type: object, required: [email], additionalProperties: false, properties: {{email: {{type: string}}}}}}
    retry: {{attempts: 6, first: 50ms, max: 500ms, within: 20m}}
    limits: {{concurrent: 64, breaker: {{after: 1000, within: 1s}}}}
    execute:
      method: POST
      url: "${{ env.WORLD_URL }}/{name}"
      headers: {headers}
      json: {{email: "${{ args.email }}", reference: "${{ key }}"}}
      timeout: 5s
      late: 1s
      acknowledged: "status in [200, 201] && has(body.id)"
      result: {{id: "${{ body.id }}"}}
    verify:
      url: "${{ env.WORLD_URL }}/{name}?reference=${{ key }}"
      several: "status == 200 && has(body.items) && size(body.items) > 1"
      found: "status == 200 && has(body.items) && size(body.items) == 1"
      absent: "status == 200 && has(body.items) && size(body.items) == 0"
      result: {{id: "${{ body.items[0].id }}"}}
      {times}
"""
UNDO = """
    compensate:
      method: DELETE
      url: "${{ env.WORLD_URL }}/{name}?reference=${{ forward.key }}"
      acknowledged: "status in [200, 204]"
      late: 1s
      verify: {{url: "${{ env.WORLD_URL }}/{name}?reference=${{ forward.key }}",
               found: "status == 200 && has(body.items) && size(body.items) == 0",
               absent: "status == 200 && has(body.items) && size(body.items) > 0"}}
"""
KEYED, KEYLESS = "{by: native_key, retention: 1h}", "{by: none}"
TOOLS = {  # name: (is our key honoured?, can it be undone?)
    "contacts": (True, True),
    "members": (False, True),
    "bookings": (True, True),
    "letters": (True, False),
}
FORWARD = len(TOOLS)  # effects of a run that goes well
FINAL = "letters"


def manifest() -> str:
    parts = ["tools:"]
    for name, (keyed, undo) in TOOLS.items():
        values = {
            "name": name,
            "by": KEYED if keyed else KEYLESS,
            "headers": '{Idempotency-Key: "${ key }"}' if keyed else "{}",
            "effect_class": "reversible" if undo else "irreversible",
            "times": TIMES.replace(", ", "\n      "),
        }
        parts += [TOOL.format(**values).strip("\n"), *([UNDO.format(**values).strip("\n")] if undo else [])]
    asked = 'arguments: {email: "${ input.email }"}'
    steps = [f"      - {{name: {name}, tool: soak.{name}, {asked}}}" for name in TOOLS]
    head = ["workflows:", "  soak:", "    version: 1", "    owner: soak-desk", "    after_irreversible: compensate"]
    asks = "    input: {type: object, required: [email], properties: {email: {type: string}}}"
    return "\n".join([*parts, *head, "    deadline: 2h", asks, "    steps:", *steps]) + "\n"
