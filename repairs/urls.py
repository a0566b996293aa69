"""The console's addresses. Included at the root by config/urls.py."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from repairs import admin  # noqa: F401  registers the records
from repairs.site import site
from repairs.views import (
    account,
    acts,
    agents,
    approvals,
    budgets,
    case,
    effect,
    home,
    people,
    policies,
    queue,
    run,
    runs,
    stops,
    tools,
    workflows,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("repairs/", queue.queue, name="queue"),
    path("repairs/news", queue.news, name="queue-news"),
    path("repairs/<int:number>/", case.case_page, name="case"),
    path("repairs/C-<int:number>/", case.case_page),
    path("repairs/<int:number>/claim", acts.claim, name="claim"),
    path("repairs/<int:number>/release", acts.release, name="release"),
    path("repairs/<int:number>/look-again", acts.look_again, name="look-again"),
    *(
        path(
            f"repairs/<int:number>/{kind.value.replace('_', '-')}",
            acts.on_effect,
            {"kind": kind.value},
            name=kind.value,
        )
        for kind in acts.ASKED
    ),
    path("repairs/<int:number>/turn-back", acts.turn_back, name="turn-back"),
    path("repairs/<int:number>/write-off", acts.write_off, name="write-off"),
    path("repairs/proposals/<uuid:act_id>/confirm", acts.answer, {"yes": True}, name="confirm"),
    path("repairs/proposals/<uuid:act_id>/decline", acts.answer, {"yes": False}, name="decline"),
    path("runs/", runs.runs, name="runs"),
    path("runs/<uuid:run_id>/", run.run_page, name="run"),
    path("runs/<uuid:run_id>/effects/<uuid:effect_id>", effect.effect_page, name="effect"),
    path("runs/<uuid:run_id>/effects/<uuid:effect_id>/version", effect.decide_version, name="effect-version"),
    *(
        path(
            f"runs/<uuid:run_id>/effects/<uuid:effect_id>/{name}.json",
            effect.effect_value,
            {"name": name},
            name=f"effect-{name}",
        )
        for name in effect.VALUES
    ),
    path("stops/", stops.stops, name="stops"),
    path("stops/freeze", stops.freeze, name="freeze"),
    path("stops/<uuid:stop_id>/lift", stops.lift, name="lift"),
    path("budgets/", budgets.budgets, name="budgets"),
    path("budgets/<uuid:budget_id>/", budgets.budget, name="budget"),
    path("budgets/<uuid:budget_id>/change", budgets.change, name="budget-change"),
    path("budgets/changes/<uuid:change_id>/confirm", budgets.answer, {"yes": True}, name="budget-confirm"),
    path("budgets/changes/<uuid:change_id>/decline", budgets.answer, {"yes": False}, name="budget-decline"),
    path("approvals/", approvals.approvals_list, name="approvals"),
    path("approvals/<uuid:approval_id>/", approvals.approval_page, name="approval"),
    path("approvals/<uuid:approval_id>/call.json", approvals.exact_call, name="approval-call"),
    path("approvals/<uuid:approval_id>/reading", approvals.read_state, name="approval-reading"),
    path("approvals/<uuid:approval_id>/read", approvals.read, name="approval-read"),
    path("approvals/<uuid:approval_id>/approve", approvals.approve, name="approval-approve"),
    path("approvals/<uuid:approval_id>/refuse", approvals.refuse, name="approval-refuse"),
    path("approvals/<uuid:approval_id>/take-back", approvals.take_back, name="approval-take-back"),
    path("policies/", policies.policies_list, name="policies"),
    path("policies/new", policies.edit, name="policy-edit"),
    path("policies/draft", policies.draft, name="policy-draft"),
    path("policies/<uuid:policy_id>/", policies.policy_page, name="policy"),
    path("policies/<uuid:policy_id>/try", policies.attempt, name="policy-try"),
    path("policies/<uuid:policy_id>/activate", policies.activate, name="policy-activate"),
    path("policies/<uuid:policy_id>/discard", policies.discard, name="policy-discard"),
    path("tools/", tools.tools, name="tools"),
    path("tools/<str:name>/", tools.tool, name="tool"),
    path("tools/<str:name>/sends", tools.sends, name="tool-sends"),
    path("tools/<str:name>/<int:version>/withdraw", tools.change_version, {"withdraw": True}, name="tool-withdraw"),
    path("tools/<str:name>/<int:version>/restore", tools.change_version, {"withdraw": False}, name="tool-restore"),
    path("workflows/<str:name>/<int:version>/", workflows.workflow, name="workflow"),
    path("agents/", agents.agents, name="agents"),
    path("agents/<uuid:agent_id>/", agents.agent, name="agent"),
    path("agents/<uuid:agent_id>/keys", agents.new_key, name="agent-key-new"),
    path("agents/<uuid:agent_id>/keys/<str:prefix>/rotate", agents.rotate_key, name="agent-key-rotate"),
    path("agents/<uuid:agent_id>/keys/<str:prefix>/revoke", agents.revoke_key, name="agent-key-revoke"),
    path("agents/<uuid:agent_id>/switch", agents.switch, name="agent-switch"),
    path("people/", people.people, name="people"),
    path("people/create", people.create, name="person-create"),
    path("people/change", people.change, name="person-change"),
    path("people/reset", people.reset, name="person-reset"),
    path("account/", account.account, name="account"),
    path("account/begin", account.begin, name="factor-begin"),
    path("account/confirm", account.confirm, name="factor-confirm"),
    path("account/remove", account.remove, name="factor-remove"),
    path("admin/", site.urls),
]
