"""How gunicorn serves the console and the API: `python -m gunicorn --config python:config.gunicorn config.wsgi`."""

import os

# A request that waits for a run (Prefer: wait=60) keeps its thread for up to a minute, so threads are many.
worker_class = "gthread"
control_socket_disable = True  # nobody asks it anything, and its path lies in the home folder
workers = int(os.environ.get("MAKEGOOD_WEB_PROCESSES", "") or 2)
threads = int(os.environ.get("MAKEGOOD_WEB_THREADS", "") or 32)
bind = [os.environ.get("MAKEGOOD_BIND", "") or "127.0.0.1:8000"]
timeout = 90  # seconds without a sign of life: longer than the longest wait
graceful_timeout = 5  # seconds for open requests at the end; who waits asks again
keepalive = 5
loglevel = "warning"
limit_request_line = 8190
