"""Names the app to Django."""

from django.apps import AppConfig


class RepairsConfig(AppConfig):
    name = "repairs"
    default_auto_field = "django.db.models.BigAutoField"
