"""Closed schemas of a bundle's lines and of the parts that have a meaning, docs/verify/evidence-format.md sections 4, 5, 8.

A schema is a function that says whether a value is of it. An object's members are all required, and no other may stand.
"""
import re

from notes import INSTANT, Malformed, from_base64, parse_checkpoint

WHOLE_LIMIT = 2**53
_HEX32 = re.compile(r"[0-9a-f]{64}")
_PSEUDONYM = re.compile(r"[0-9a-f]{32}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,256}")

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

PARTS = ("detail", "input", "result")
ACTORS = ("api", "self_serve", "payment-worker", "admin-worker", "system", "user")
DECISIONS = ("accepted", "modified", "rejected", "overridden", "deferred", "escalated")
SCENARIOS = ("standard", "high_stakes", "critical", "error_injected", "calibration", "ai_withheld")
FIRST_DOMAINS = (
    *("general", "financial", "insurance", "healthcare", "legal", "employment", "education"),
    *("public_sector", "law_enforcement", "critical_infrastructure"),
)
LATER_DOMAINS = ("housing", "aviation", "pharmaceutical")
DOMAINS = (*FIRST_DOMAINS, *LATER_DOMAINS)
BUCKETS = ("H", "C", "P", "X", "A", "U", "R", "Q")
COUNTERS = ("pres", "lab", "truth", "dep", "ref", "hs", "crit", "fastAcc")


# ---- building blocks --------------------------------------------------------------------------------------


def closed(**members):
    """An object with exactly these members."""

    def holds(value):
        if not isinstance(value, dict) or value.keys() != members.keys():
            return False
        return all(check(value[name]) for name, check in members.items())

    return holds


def having(may_have, **members):
    """An object with exactly these members, and any of those that it may have besides."""

    def holds(value):
        if not isinstance(value, dict):
            return False
        more = {name: schema for name, schema in may_have.items() if name in value}
        return closed(**members, **more)(value)

    return holds


def either(*schemas):
    """A value of one of these schemas."""
    return lambda value: any(schema(value) for schema in schemas)


def items(schema, most=None):
    """An array of such values."""
    return lambda value: (
        isinstance(value, list) and (most is None or len(value) <= most) and all(map(schema, value))
    )


def only(*values):
    """One of these strings."""
    return lambda value: isinstance(value, str) and value in values


def text(value):
    """Any string."""
    return isinstance(value, str)


def anything(_value):
    """Any value."""
    return True


def null(value):
    """Null alone."""
    return value is None


def flag(value):
    """True or false."""
    return isinstance(value, bool)


def true(value):
    """True alone."""
    return value is True


def number(low=float("-inf"), high=float("inf")):
    """A number from low to high."""
    return lambda value: (
        isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high
    )


def whole(low=0, high=WHOLE_LIMIT - 1):
    """A whole number from low to high."""
    within = number(low, high)
    return lambda value: within(value) and value == int(value)


def matching(pattern):
    """A string that the pattern matches from end to end."""
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def optional(schema):
    """Null, or a value of the schema."""
    return either(null, schema)


def instant(value):
    """An instant in its one form, of a day that the calendar has."""
    if not isinstance(value, str) or INSTANT.fullmatch(value) is None:
        return False
    year, month, day, hour, minute, second = map(int, re.split("[-T:.]", value)[:6])
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59:
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= (29 if month == 2 and is_leap else _DAYS[month - 1])


def readable(parse):
    """A string that `parse` reads."""

    def holds(value):
        if not isinstance(value, str):
            return False
        try:
            parse(value)
        except Malformed:
            return False
        return True

    return holds


hash_text = matching(_HEX32)
identifier = matching(_ID)
checkpoint_text = readable(parse_checkpoint)

# ---- lines of a bundle (section 8) ------------------------------------------------------------------------

_BASE = closed(size=whole(), prev=hash_text, peaks=items(hash_text), checkpoint=optional(text))


def _base(value):
    """If nothing was pruned there is nothing below."""
    return _BASE(value) and (value["size"] > 0 or (value["peaks"] == [] and value["checkpoint"] is None))


HEADER = closed(
    kind=only("jis.bundle/1"),
    origin=text,
    chain=text,
    base=_base,
    # Candidates: they affect a verdict only if they verify.
    keys=items(closed(vkey=text, cert=optional(text))),
    retention_days=optional(whole()),
    exported_at=instant,
    software=text,
)
MODEL = closed(kind=only("jis.model/1"), sha256=hash_text, document=lambda value: isinstance(value, dict))
LADDER = closed(
    kind=only("jis.ladder/1"), **{"from": whole(1), "to": whole(1), "proof": items(hash_text, most=128)}
)
# The entry is checked against its own schema.
BEGINNING = closed(
    kind=only("jis.beginning/1"),
    entry=anything,
    salt=hash_text,
    data=lambda value: isinstance(value, dict),
    path=items(hash_text, most=64),
)
_PART = {"kind": only("jis.part/1"), "seq": whole(), "name": only(*PARTS)}
PART = either(
    closed(**_PART, salt=hash_text, data=anything),
    *(closed(**_PART, **{reason: true}) for reason in ("erased", "pruned", "withheld")),
)
CHECKPOINT = closed(kind=only("jis.checkpoint/1"), note=text)
TRAILER = closed(kind=only("jis.trailer/1"), checkpoint=text, size=whole(), bundle_sha256=hash_text)


def _commitments(value):
    return (
        isinstance(value, dict)
        and len(value) > 0
        and all(name in PARTS and hash_text(commitment) for name, commitment in value.items())
    )


_ENTRY = dict(
    actor=only(*ACTORS),
    chain=text,
    commit=_commitments,
    event_type=text,
    id=text,
    org_id=optional(text),
    prefix=optional(text),
    prev=hash_text,
    seq=whole(),
    subject=optional(matching(_PSEUDONYM)),
    timestamp=instant,
)
_PLAIN = closed(v=only("jis.audit/1"), **{**_ENTRY, "actor": only(*(set(ACTORS) - {"user"}))})
_BY_USER = closed(
    v=only("jis.audit/2"),
    user_id=matching(re.compile("usr_[0-9A-HJKMNP-TV-Z]{26}")),
    **{**_ENTRY, "actor": only("user")},
)


def ENTRY(value):
    """An entry: with the user's id if, and only if, a user made it."""
    return _PLAIN(value) or _BY_USER(value)


# ---- details that say how a chain came about (section 5) --------------------------------------------------

_GENESIS = {"deployment": text, "origin": text, "retention_days": optional(whole()), "vkey": text}
_EPOCH = {
    **_GENESIS,
    "previous_origin": text,
    "last_known_checkpoint": optional(text),
    "restored_size": whole(),
    "restored_root": optional(hash_text),
    "reason": text,
}
STRUCTURAL = {
    "CHAIN_GENESIS": either(closed(**_GENESIS), closed(**_EPOCH)),
    "CHAIN_RESTORED": closed(
        **_EPOCH,
        erased=items(matching(_PSEUDONYM)),
        lost=items(closed(origin=text, checkpoint=checkpoint_text)),
    ),
    "RETENTION_POLICY": closed(
        policy=only("audit_log", "evidence"), from_days=optional(whole()), to_days=optional(whole())
    ),
    "RETENTION_PRUNED": closed(
        origin=text,
        root=hash_text,
        last_ts=instant,
        cutoff=instant,
        policy_days=whole(),
        **{"from": whole(), "to": whole(1)},
    ),
    "SUBJECT_ERASED": closed(requested_at=instant, basis=only("request", "restore"), entries=whole()),
    "SIGNING_KEY_ROTATED": closed(cert=text, overlap=flag),
    "ORG_CHECKPOINTS": closed(
        checkpoints=items(closed(origin=text, size=whole(), root=hash_text), most=500)
    ),
}


# ---- probes (section 11) ----------------------------------------------------------------------------------


def _day(value):
    """A UTC day that the calendar has."""
    return isinstance(value, str) and instant(f"{value}T00:00:00.000Z")


_POLICY = closed(
    enabled=flag,
    rate=number(0, 0.1),
    highest_share=number(0, 0.1),
    minimum=whole(0, 1000),
    ticket_minutes=whole(5, 1440),
)
_STRATUM = {"domain": only(*DOMAINS), "stakes": only("standard", "high_stakes", "critical")}
_OPENING = {"probe_id": identifier, "ai_correct": flag, "reference": optional(text), "salt": hash_text}
_ASSIGNMENT = {"operator_id": identifier, "session_id": identifier, "probe_id": optional(identifier)}
PROBES = {
    "PROBE_POLICY_CHANGED": _POLICY,
    "PROBE_SEED_COMMITTED": closed(day=_day, commitment=hash_text, policy=_POLICY),
    "PROBE_SEED_OPENED": closed(day=_day, seed=hash_text),
    "PROBE_SEALED": closed(probe_id=identifier, **_STRATUM, commitment=hash_text),
    "PROBE_DRAWN": closed(
        day=_day, **_STRATUM, share=number(0, 1), stock=whole(), probe_id=optional(identifier)
    ),
    "PROBE_ASSIGNED": either(
        closed(**_ASSIGNMENT, probe_session_id=identifier, expires_at=instant),
        closed(**_ASSIGNMENT, probe_session_id=null, expires_at=null),
    ),
    "PROBE_OPENED": closed(**_OPENING),
    "PROBE_RECALLED": closed(**_OPENING, reason=only("request", "erasure", "restore")),
    "PROBE_LOST": closed(**_OPENING),
}


# ---- inputs (section 4; the state is formulas.md section 2) -----------------------------------------------

_PAIR = lambda value: isinstance(value, list) and len(value) == 2 and all(map(number(0), value))  # noqa: E731

def _known_cases_of_part(value):
    """Four weights, three counters, a weight."""
    return (
        isinstance(value, list)
        and len(value) == 8
        and all(map(number(0), (*value[:4], value[7])))
        and all(map(whole(), value[4:7]))
    )


def _by_domain(value):
    return isinstance(value, dict) and all(
        name in DOMAINS and _known_cases_of_part(part) for name, part in value.items()
    )


def _sealed_by_part(value):
    names = ("all", "high_stakes", "critical", *DOMAINS)
    return isinstance(value, dict) and all(
        name in names and _known_cases_of_part(part) for name, part in value.items()
    )


def _days_by_part(value):
    names = (*DOMAINS, "high_stakes", "critical")
    return isinstance(value, dict) and all(name in names and whole()(day) for name, day in value.items())


def _buckets_of_domains(value):
    """A bucket for each of the first domains, and for later ones that occurred."""
    return (
        isinstance(value, dict)
        and all(name in value for name in FIRST_DOMAINS)
        and all(name in DOMAINS and _PAIR(pair) for name, pair in value.items())
    )


_STATE_MEMBERS = {
    "v": text,
    "n": whole(),
    "t0": optional(whole()),
    "t1": optional(whole()),
    "b": closed(**dict.fromkeys(BUCKETS, _PAIR)),
    "K": _buckets_of_domains,
    "rt": closed(n=whole(), mu=number(), s2=number(0)),
    "im": number(0, 1),
    "err": optional(
        closed(
            type=only("over", "under", "own"),
            t=whole(),
            k=whole(),
            mu=number(),
            sd=number(0),
            im=number(0, 1),
        )
    ),
    "ef": optional(number(0, 100)),
    "es": optional(number(0, 100)),
    "disp": optional(number(0, 100)),
    "jis": optional(number(0, 100)),
    "cnt": closed(**dict.fromkeys(COUNTERS, whole())),
    "tcrit": optional(whole()),
    "share": closed(hs=number(0, 1), crit=number(0, 1)),
}
_KNOWN_CASES = having(
    {"e": _sealed_by_part},
    **dict.fromkeys(("n", "p", "s", "c", "a"), _known_cases_of_part),
    **dict.fromkeys(("d", "q"), _by_domain),
    u=_days_by_part,
    t=optional(whole()),
    m=whole(0, 7),
)
_STATE = either(closed(**_STATE_MEMBERS), closed(**_STATE_MEMBERS, ev=_KNOWN_CASES))
_WEIGHTS = closed(
    omega=number(0),
    s=number(0, 1),
    r=number(0, 1),
    kappa=number(0, 1),
    wP=number(0),
    inert=flag,
    domain=only(*DOMAINS),
    presented=flag,
)
_INTERACTION_MEMBERS = dict(
    ai_available=flag,
    ai_recommendation_presented=flag,
    scenario_type=only(*SCENARIOS),
    time_to_decision_ms=number(0, 86_400_000),
    decision=only(*DECISIONS),
    modification_extent=number(0, 1),
    outcome_correct=optional(flag),
    hover_events=optional(whole(0, 100_000)),
    scroll_depth=optional(number(0, 1)),
    alternative_views_checked=optional(whole(0, 100_000)),
)
_INTERACTION = having({"ai_correct": flag, "sealed_probe": true}, **_INTERACTION_MEMBERS)
_PRIOR = closed(seq=whole(), entry_hash=hash_text)
_COMMON = {
    "v": only("jis.input/1"),
    "algo": closed(formulas=only("jis-1", "jis-2", "jis-3"), model_version=text, model_sha256=hash_text),
    "as_of": instant,
    "operator_id": identifier,
}
_CALL = {
    **_COMMON,
    "session_id": identifier,
    "mode": only("full", "lite"),
    "role_tier": only("tier_1", "tier_2", "tier_3"),
    "domain": only(*DOMAINS),
    "interaction": _INTERACTION,
}
_STARTS = {"prior": optional(_PRIOR), "state": optional(_STATE)}
_LABEL_MEMBERS = dict(
    **_COMMON,
    session_id=identifier,
    ref_id=text,
    ref_seq=whole(),
    ref_entry_hash=hash_text,
    decision=only(*DECISIONS),
    scenario_type=only(*(name for name in SCENARIOS if name != "error_injected")),
    weights=_WEIGHTS,
    label=flag,
    prior=_PRIOR,
    state=_STATE,
)
INPUTS = {
    "SCORE_COMPUTED": closed(**_CALL, **_STARTS, mode_override=only("normal"), weights=_WEIGHTS),
    "SCORE_SKIPPED": closed(
        **_CALL, mode_override=only("incident_frozen"), prior=null, state=null, weights=null
    ),
    "DRS_COMPUTED": closed(
        **_COMMON,
        **_STARTS,
        decision_id=identifier,
        domain=only(*DOMAINS),
        interaction=_INTERACTION,
        ai_confidence=optional(number(0, 1)),
        stakes=optional(only("low", "medium", "high", "critical")),
    ),
    "OUTCOME_LABELLED": either(
        closed(**_LABEL_MEMBERS),
        closed(**_LABEL_MEMBERS, ai_correct=flag),
        closed(**_LABEL_MEMBERS, ai_correct_at_scoring=flag),
    ),
}
COMMIT_REFERENCE = closed(ref_id=text, ref_seq=whole(), ref_entry_hash=hash_text)
