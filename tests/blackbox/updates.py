"""A tool that changes what is there already: it keeps what was before, and its looks are proved by versions."""

from __future__ import annotations

VERSION = """"${ int(headers.etag.replace('\\"', '')) }\""""

# A tool for the step that fails: whatever stands before it is to be undone.
REFUSE = """\
  crm.refuse:
    version: 1
    kind: http
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: none,
              autonomy: auto, privileges: [], owner: crm-desk, customer_visible: false, residue: "It was done."}
    arguments: {type: object}
    execute: {method: POST, url: "${ env.WORLD_URL }/refusals"}
"""

RETITLE = """
tools:
  doc.retitle:
    version: 1
    kind: http
    profile: {effect_class: reversible, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [docs.write], owner: docs-desk, customer_visible: true,
              residue: "Document ${ args.id } is called ${ args.title }."}
    scopes: ["doc:${ args.id }"]
    arguments: {type: object, required: [id, title], properties: {id: {type: string}, title: {}}}
    retry: {attempts: 4, first: 10ms, max: 40ms, within: 5m}
    before: {url: "${ env.WORLD_URL }/docs/${ args.id }", keep: {title: "${ body.title }"}, version: @version@}
    execute:
      method: PATCH
      url: "${ env.WORLD_URL }/docs/${ args.id }"
      json: {title: "${ args.title }"}
      late: 200ms
      version: @version@
    verify:
      url: "${ env.WORLD_URL }/docs/${ args.id }"
      found: "status == 200 && body.title == args.title"
      differs: "status == 200 && body.title != args.title"
      absent: "status == 404"
      version: @version@
      settle: 100ms
      every: 30ms
      looks: 3
      within: 2m
    compensate:
      method: PATCH
      url: "${ env.WORLD_URL }/docs/${ args.id }"
      headers: {If-Match: "\\"${ result.version }\\""}
      json: {title: "${ has(before.title) ? before.title : null }"}
      late: 200ms
      verify:
        url: "${ env.WORLD_URL }/docs/${ args.id }"
        found: "status == 200 && (has(before.title) ? body.title == before.title : !has(body.title))"
        absent: "status == 200 && has(body.title) && body.title == args.title"
        version: @version@
@refuse@workflows:
  retitle:
    version: 1
    owner: docs-desk
    input: {type: object, required: [id, title], properties: {id: {type: string}, title: {}, email: {}}}
    steps:
      - {name: doc, tool: doc.retitle, arguments: {id: "${ input.id }", title: "${ input.title }"}}
  retitle-and-fail:
    version: 1
    owner: docs-desk
    input: {type: object, required: [id, title], properties: {id: {type: string}, title: {}, email: {}}}
    steps:
      - {name: doc, tool: doc.retitle, arguments: {id: "${ input.id }", title: "${ input.title }"}}
      - {name: refused, tool: crm.refuse, arguments: {}}
""".replace("@version@", VERSION).replace("@refuse@", REFUSE)
