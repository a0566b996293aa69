"""The address map: health, the API under /api/v1/, and the console for everything else."""

from django.urls import URLPattern, URLResolver, include, path

from config import health
from repairs.views import errors

urlpatterns: list[URLPattern | URLResolver] = [
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("api/v1/", include("workflows.api.urls")),
    path("", include("repairs.urls")),
]

handler400 = errors.bad_request
handler403 = errors.denied
handler404 = errors.missing
handler500 = errors.broken
