"""Whether a model document is one that formulas.md can compute with, docs/verify/evidence-format.md section 9, "Replay".

The members that formulas.md reads are there and of their type, and no list or name is longer than section 9 says. In
which range a number must lie is left to the formulas: what they cannot compute with is found with the record.
"""
import re

from shapes import BUCKETS, FIRST_DOMAINS, LATER_DOMAINS, SCENARIOS, flag, matching, number, only, whole

_DIMENSIONS = (
    *("deferral_resistance", "error_detection", "independent_performance", "deliberation_depth"),
    *("post_error_recalibration", "domain_confidence", "decision_autonomy"),
)
_URGENCIES = ("none", "low", "medium", "high", "critical")
_KNOWN_FORMULAS = ("jis-1", "jis-2", "jis-3")
_MOST_VALUES = 10_000
_MOST_PROJECTIONS = 366
_LONGEST_NAME = 128
_MOST_POINTS = 97
_MOST_COMPONENTS = 8


class TooLarge(Exception):
    """A list or a name is longer than the limit."""


def _having(**members):
    """An object with these members; others are ignored."""
    return lambda value: (
        isinstance(value, dict) and all(name in value and check(value[name]) for name, check in members.items())
    )


def _numbers(names, **more):
    """An object of numbers."""
    return _having(**dict.fromkeys(names.split(), number()), **more)


def _each(names, schema):
    return _having(**dict.fromkeys(names, schema))


_DOMAIN = _numbers(
    "fast_ms reference_ms decay_rate decay_acceleration floor recovery_rate severity", high_risk=flag
)


def _domains(value):
    """The first domains, and any of the later ones."""
    return _each(FIRST_DOMAINS, _DOMAIN)(value) and all(
        _DOMAIN(value[name]) for name in LATER_DOMAINS if name in value
    )


def _list(schema, least, most):
    def holds(value):
        if isinstance(value, list) and len(value) > most:
            raise TooLarge
        return isinstance(value, list) and len(value) >= least and all(map(schema, value))

    return holds


def _name(value):
    if isinstance(value, str) and len(value) > _LONGEST_NAME:
        raise TooLarge
    return isinstance(value, str) and value != ""


def _exponents(value):
    return isinstance(value, dict) and all(
        name in ("H", "C", "P", "X", "A", "U", "R", "K") and number()(one) for name, one in value.items()
    )


_DOCUMENT = _having(
    version=matching(re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}")),
    formulas=only(*_KNOWN_FORMULAS),
    buckets=_each((*BUCKETS, "K"), _numbers("capacity prior_strength prior_mean")),
    scenario_weights=_each(SCENARIOS, number()),
    classification=_numbers(
        "full_departure_extent injected_modified_wrong_share modified_false_alarm_share referral_hit "
        "referral_false_alarm"
    ),
    retention=_numbers("grace_days hyperbolic_rate_per_day exponent"),
    relief=_numbers("hit_exponent acceptance_exponent from_discrimination over_span time_shrink"),
    process=_numbers(
        "min_ms max_ms measured_weight_span modification_bonus inert_below time_share engagement_share "
        "full_engagement full_scrutiny relief_share relief_time",
        unmeasured=_numbers("time_credit weight"),
        engagement=_numbers("hover_weight hover_full scroll_weight views_weight views_full"),
        plausibility=_numbers("ms_per_hover max_hovers ms_per_view max_views ms_full_scroll"),
        idle=_numbers("after_ms engagement_below time_factor"),
    ),
    credibility=_numbers("prior_hits prior_total"),
    updates=_having(
        non_reflexive=_numbers("wrong_acceptance_cap departure_weight departure_base departure_scrutiny"),
        ownership=_numbers(
            "miss_weight false_alarm_weight hit_weight acceptance_value acceptance_weight departure_weight "
            "departure_base departure_scrutiny referral_value referral_weight"
        ),
        unaided=_numbers("proxy_weight"),
        domain=_numbers("right_acceptance_weight"),
    ),
    recalibration=_numbers(
        "window_days window_events opens_at sd_floor slowing_base slowing_slope engagement_base slowing_share "
        "engagement_share miss_weight false_alarm_weight repeated_false_alarm_weight hit_weight "
        "unaided_weight right_acceptance_base right_acceptance_scrutiny right_acceptance_weight "
        "scrutiny_share process_share other_weight"
    ),
    baseline=_numbers("slowest_rate_events huber_after huber_width variance_floor"),
    shares=_numbers("span"),
    score=_numbers("fast_span slow_span", display=_numbers("rate max_fall max_rise")),
    restraint=_numbers("full_at floor"),
    dimensions=_each(_DIMENSIONS, _having(weight=number(), restraint=flag)),
    bands=_numbers("exemplary proficient adequate"),
    thresholds=_numbers(
        "min_jis target_jis critical_jis dimension_floor action_required_days",
        floor_dimensions=_list(only(*_DIMENSIONS), 1, len(_DIMENSIONS)),
    ),
    minimum_data=_numbers("interactions days ground_truth"),
    uncertainty=_numbers("level z calibration_factor"),
    domains=_domains,
    decay=_numbers(
        "trend_limit trend_from_interactions trend_ramp_interactions decline_slope decline_max improve_slope "
        "improve_min horizon_days recovery_ceiling",
        projection_days=_list(number(), 1, _MOST_PROJECTIONS),
    ),
    maintenance=_having(
        levels=_each(_URGENCIES, _numbers("frequency next_days")),
        projected_days=_numbers("medium low"),
        trend=_numbers("medium low"),
        provisional_cap=only(*_URGENCIES),
        triggers_at=only(*_URGENCIES),
        truth_target=only(*_DIMENSIONS),
        withhold=_numbers("below", dimensions=_list(only(*_DIMENSIONS), 0, len(_DIMENSIONS))),
        interventions=_each(_DIMENSIONS, _name),
    ),
    drs=_numbers(
        "referral_likelihood likelihood_min likelihood_exponent severity_exponent implausible_below",
        acceptance=_numbers("process_weight hit_weight"),
        departure=_numbers("process_weight credibility_weight"),
        novelty=_numbers("weight interactions"),
        severity_bonus=_numbers("high_stakes critical"),
        stakes_scenario=_each(("low", "medium", "high", "critical"), only(*SCENARIOS)),
        routes=_numbers("review must_review escalation"),
        low_credibility=_numbers("departure credibility"),
    ),
)
_WITH_EXPONENTS = _having(exponents=_exponents)
_WITH_COST = _having(false_alarm_cost=number())
_DISCRIMINATION = _having(
    grid=_having(points=whole(9, _MOST_POINTS), reach=number()),
    leaning=_numbers("mean sd"),
    sensitivity=_list(_numbers("weight mean sd correlation"), 1, _MOST_COMPONENTS),
    review_cost=number(),
    error_rate=_numbers("prior weight least most step"),
    memory_cases=number(),
    half_life_days=number(),
    wrong_cases=number(),
    right_cases=number(),
    unmeasured=_numbers("grave_decisions domain_decisions"),
)


def _fits_formulas(document):
    """Whether the members are there that the formulas of the document read, and none of others."""
    rows, is_third = document["dimensions"].values(), document["formulas"] == "jis-3"
    if is_third != ("discrimination" in document):
        return False
    if not is_third:
        return all(_WITH_EXPONENTS(row) and "false_alarm_cost" not in row and _having(lite_weight=number())(row) for row in rows)
    if any(name not in document["domains"] for name in LATER_DOMAINS):
        return False
    return _DISCRIMINATION(document["discrimination"]) and all(map(_is_third_row, rows))


def _is_third_row(row):
    """A dimension with a weight has a cost of false alarms, one without has exponents."""
    lite = row.get("lite_weight", 0)
    if not number()(lite) or ("exponents" in row) == ("false_alarm_cost" in row):
        return False
    is_weighty = row["weight"] > 0 or lite > 0
    return _WITH_COST(row) if is_weighty else _WITH_EXPONENTS(row)


_UNREAD = ("law", "organization")
_UNREAD_OF_MAINTENANCE = ("difficulty", "difficulties", "exercises")


def fault_of(document):
    """The finding for a document, None if it can be computed with."""
    formulas = document.get("formulas")
    if isinstance(formulas, str) and formulas not in _KNOWN_FORMULAS and re.fullmatch(r"jis-\d+", formulas):
        return "UNSUPPORTED_VERSION"
    read = {name: value for name, value in document.items() if name not in _UNREAD}
    if isinstance(read.get("maintenance"), dict):
        rules = read["maintenance"].items()
        read["maintenance"] = {name: value for name, value in rules if name not in _UNREAD_OF_MAINTENANCE}
    if _values_in(read) > _MOST_VALUES:
        return "LIMIT_EXCEEDED"
    try:
        return None if _DOCUMENT(read) and _fits_formulas(read) else "MALFORMED_LINE"
    except TooLarge:
        return "LIMIT_EXCEEDED"


def _values_in(root):
    """How many values there are, counted no further than the limit."""
    count, open_values = 0, [root]
    while open_values and count <= _MOST_VALUES:
        value = open_values.pop()
        inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
        count += len(inner)
        open_values.extend(inner if len(inner) <= _MOST_VALUES else ())
    return count
