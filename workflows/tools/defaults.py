"""The values a manifest may leave out, each with its reason; `apply` writes them into the normalised spec."""

from __future__ import annotations

KINDS = ("http", "smtp", "caldav", "mcp", "python")

MINUTE = 60.0
HOUR = 60 * MINUTE
DAY = 24 * HOUR

# A lease is the timeout + 20 s and a drain claims nothing after 40 s: a minute is what fits below the task's 120 s.
LONGEST_TIMEOUT = MINUTE
# Longer than nearly every healthy provider takes, short enough that sixteen hung calls don't stop a worker.
TIMEOUT = 10.0
# Queues and gateways park a request about this long before they drop it; after that a miss is absence.
LATE = 15 * MINUTE
# Search indexes of large providers lag a second or two behind their own writes.
SETTLE = 2.0
EVERY = 5.0
LOOKS = 6
LOOK_WITHIN = 10 * MINUTE
# Ten seconds, enough for a read of one object; a look is repeated anyway.
LOOK_TIMEOUT = 10.0
# A list that ends later than on its tenth page is better asked more narrowly.
PAGES = 10
# Another worker looks after 80 s: a scan must be over by then, whatever each page takes.
LONGEST_SCAN = MINUTE
# Mail servers scan for viruses between the final dot and their yes.
MAIL_TIMEOUT = 30.0
POLL_EVERY = 2.0
POLL_WITHIN = 10 * MINUTE
# The shortest time that providers with idempotency keys promise to keep them.
RETENTION = DAY
ATTEMPTS = 4
RETRY_FIRST = 1.0
RETRY_MAX = MINUTE
RETRY_WITHIN = 10 * MINUTE
CONCURRENT = 8
BREAKER_AFTER = 5
BREAKER_WITHIN = 30.0
WORKFLOW_DEADLINE = HOUR

# The same words as JSON-ready expressions: DESIGN 8's defaults of the http kind.
ACKNOWLEDGED = "status in [200, 201, 204]"
TEMPORARY = "status == 429"
REFUSED = "status >= 400 && status < 500 && !(status in [408, 425, 429])"
REFUSED_KEYED = "status >= 400 && status < 500 && !(status in [408, 409, 425, 429])"
MATCHED = {
    "several": "status == 200 && size(matches) > 1",
    "differs": "status == 200 && size(matches) == 0 && size(near) > 0",
    "found": "status == 200 && size(matches) == 1",
    "absent": "status == 200 && size(matches) == 0 && size(near) == 0",
}
REFUSED_DELETE = "status >= 400 && status < 500 && !(status in [404, 408, 409, 410, 425, 429])"
