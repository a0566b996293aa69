"""One HTTP exchange, told apart by what may have reached the other side. No repeats, no redirects, no proxies."""

from workflows.tools.wire.exchange import exchange
from workflows.tools.wire.messages import Answer, Forbidden, Lost, NotLeft, Request

__all__ = ["Answer", "Forbidden", "Lost", "NotLeft", "Request", "exchange"]
