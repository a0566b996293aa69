"""The addresses below /api/v1/."""

from django.urls import path

from workflows.api.acts import Cancel, Seal, Steps
from workflows.api.base import missing
from workflows.api.catalog import Tools, Workflows
from workflows.api.effects import OneEffect
from workflows.api.hooks import Hooks
from workflows.api.openapi import Page, Schema
from workflows.api.runs import OneRun, Runs

urlpatterns = [
    path("runs", Runs.as_view(), name="api-runs"),
    path("runs/<str:run_id>", OneRun.as_view(), name="api-run"),
    path("runs/<str:run_id>/steps", Steps.as_view(), name="api-steps"),
    path("runs/<str:run_id>/seal", Seal.as_view(), name="api-seal"),
    path("runs/<str:run_id>/cancel", Cancel.as_view(), name="api-cancel"),
    path("effects/<str:effect_id>", OneEffect.as_view(), name="api-effect"),
    path("tools", Tools.as_view(), name="api-tools"),
    path("workflows", Workflows.as_view(), name="api-workflows"),
    path("hooks/<str:source>", Hooks.as_view(), name="api-hooks"),
    path("schema/", Schema.as_view(), name="api-schema"),
    path("docs/", Page.as_view(), name="api-docs"),
    path("<path:rest>", missing),
]
