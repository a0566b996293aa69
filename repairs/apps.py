"""Names the app to Django, and lets it listen to the workflows."""

from django.apps import AppConfig


class RepairsConfig(AppConfig):
    name = "repairs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.utils.translation import gettext, ngettext

        from config import health
        from repairs import checks, receivers  # noqa: F401  connecting is what importing them is for
        from repairs.acts import proof  # noqa: F401  likewise: it hears of logins
        from repairs.messages import messages
        from repairs.notices import sending
        from repairs.words import marked

        messages()  # what can't be read keeps every process from starting
        marked.speaks(gettext, ngettext)
        health.NOTES["notices"] = sending.failures
