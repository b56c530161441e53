"""A caller that knows nothing but the client which openapi-python-client made of the OpenAPI document.

Arguments: the service's address and an organization's key. It prints what it was answered, as JSON.
"""

import importlib
import json
import pkgutil
import sys
import warnings

warnings.simplefilter("error")

import jiss_client
import jiss_client.api
from jiss_client import AuthenticatedClient
from jiss_client.api.compliance import get_report
from jiss_client.api.evidence import get_chain_export
from jiss_client.api.operators import get_profile
from jiss_client.api.scoring import get_replay, post_batch, post_commit, post_decision, post_score
from jiss_client.models import (
    BatchItem,
    BatchItemDecision,
    BatchRequest,
    CommitRequest,
    DecisionRequest,
    DecisionRequestDecision,
    DomainAsSent,
    Error,
    FlatScoreRequest,
    FlatScoreRequestDecision,
    GetProfileInclude,
    Interaction,
    InteractionDecision,
    NestedBatchItem,
    PostScoreModeOverride,
    PostScoreRoleTier,
    ScoreRequest,
    SkippedResponse,
    Stakes,
)

base_url, key = sys.argv[1:]
client = AuthenticatedClient(
    base_url=base_url,
    token=key,
    prefix="",
    auth_header_name="X-API-Key",
    raise_on_unexpected_status=True,
)

operations = [
    module.name
    for module in pkgutil.walk_packages(jiss_client.api.__path__, "jiss_client.api.")
    if importlib.import_module(module.name) and not module.ispkg
]

nested = post_score.sync(
    client=client,
    role_tier=PostScoreRoleTier.TIER_2,
    body=ScoreRequest(
        session_id="python-1",
        operator_id="reviewer-ada",
        domain=DomainAsSent.FINANCIAL,
        interaction=Interaction(
            time_to_decision_ms=14200.5,
            decision=InteractionDecision.MODIFIED,
            modification_extent=0.4,
            hover_events=None,
        ),
    ),
)
flat = post_score.sync(
    client=client,
    body=FlatScoreRequest(
        operator_id="reviewer-ada",
        domain=DomainAsSent.FINANCIAL,
        time_to_decision_ms=9000,
        decision=FlatScoreRequestDecision.REJECTED,
    ),
)
frozen = post_score.sync(
    client=client,
    mode_override=PostScoreModeOverride.INCIDENT_FROZEN,
    body=FlatScoreRequest(
        operator_id="reviewer-ada",
        domain=DomainAsSent.FINANCIAL,
        time_to_decision_ms=900,
        decision=FlatScoreRequestDecision.ACCEPTED,
    ),
)
batch = post_batch.sync(
    client=client,
    body=BatchRequest(
        operator_id="reviewer-ada",
        domain=DomainAsSent.FINANCIAL,
        interactions=[
            BatchItem(session_id="python-2", time_to_decision_ms=8200, decision=BatchItemDecision.ACCEPTED),
            NestedBatchItem(
                session_id="python-3",
                interaction=Interaction(time_to_decision_ms=5000, decision=InteractionDecision.ESCALATED),
            ),
        ],
    ),
)
committed = post_commit.sync("python-1", client=client, body=CommitRequest(outcome_correct=True))
decision = post_decision.sync(
    client=client,
    body=DecisionRequest(
        decision_id="python-decision",
        operator_id="reviewer-ada",
        domain=DomainAsSent.FINANCIAL,
        time_to_decision_ms=1400,
        decision=DecisionRequestDecision.ACCEPTED,
        stakes=Stakes.HIGH,
    ),
)
replay = get_replay.sync("python-1", client=client)
profile = get_profile.sync("reviewer-ada", client=client, include=GetProfileInclude.PROJECTION)
report = get_report.sync(client=client, period_start="2026-10-01", period_end="2099-01-01")
export = get_chain_export.sync_detailed(client=client)
refused = post_commit.sync("nobody", client=client, body=CommitRequest())

assert isinstance(frozen, SkippedResponse), frozen
assert isinstance(refused, Error), refused
print(
    json.dumps(
        {
            "operations": operations,
            "jis": nested.jis,
            "band": nested.band,
            "tier": nested.role_tier,
            "hash": nested.evidence.entry_hash,
            "flat": flat.session_id,
            "frozen": frozen.reason,
            "batch": [item.session_id for item in batch.results],
            "committed": committed.committed,
            "routing": decision.routing_decision,
            "replay": [replay.kind, replay.match],
            "interactions": profile.profile.total_interactions,
            "days": [point.day for point in profile.decay_projection.projections],
            "findings": len(report.report.findings),
            "refused": refused.error.code,
            "bundle": len(export.content.decode().splitlines()),
        }
    )
)
