"""/schema/ and /docs/: the contract as OpenAPI 3.1, and a page to try it that keeps the console's strict CSP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiJsonRenderer2, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from workflows.api import problems
from workflows.api.schemas import COMPONENTS

# Also for `manage.py spectacular --custom-settings workflows.api.openapi.SETTINGS`.
SETTINGS: dict[str, Any] = {
    "APPEND_COMPONENTS": {"schemas": COMPONENTS},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Instead of the usual hook: the shapes are written as they shall be seen, and nothing of them is renamed.
    "POSTPROCESSING_HOOKS": ["workflows.api.openapi.complete"],
    "DESCRIPTION": "Effects of agents: recorded before they are made, looked at after, never made twice.",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
}


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """What the generator leaves out: that a body which is described must be sent."""
    for methods in result["paths"].values():
        for operation in methods.values():
            if "requestBody" in operation:
                operation["requestBody"]["required"] = True
    return result


class _Problems:
    """Errors here are said as everywhere else below /api/v1/."""

    metadata_class: Any = None

    def get_exception_handler(self) -> Any:
        return problems.handle


class Schema(_Problems, SpectacularAPIView):
    """Open to all: it tells what can be asked, and nothing of anybody."""

    custom_settings = SETTINGS
    renderer_classes = [OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer]


class Page(_Problems, SpectacularSwaggerSplitView):
    url_name = "api-schema"
    template_name = "api/docs.html"
