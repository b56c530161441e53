"""Replays recorded scores, decisions and late labels: python3 replay.py bundle.ndjson

Follows docs/verify/formulas.md alone ("section" below means one of its sections) and shares no code with the
service. Every score, decision, commit and label of an evidence bundle whose parts are given is computed again
from its `input` part and the model document that it names, and held against what is recorded, every number to
its last bit. Signatures and hashes are not looked at: docs/verify/evidence-format.md says how to check them.
Python 3.9 or later, standard library only. Exit: 0 all equal, 1 differences, 2 nothing to replay.
"""
import copy
import hashlib
import json
import math
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Optional

import parts_of_work
from arithmetic import (
    clamp,
    exponential,
    natural_logarithm,
    power,
    quantised,
    round_half_up,
    round_to,
    to_dimension,
)
from posterior import judge
from shapes import FIRST_DOMAINS

# ---- section 1: conventions -------------------------------------------------------------------------------

DAY = 86_400_000
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

DIMENSIONS = (
    *("deferral_resistance", "error_detection", "independent_performance", "deliberation_depth"),
    *("post_error_recalibration", "domain_confidence", "decision_autonomy"),
)
FACTORS = ("P", "A", "H", "X", "C", "U", "R", "K")
URGENCIES = ("none", "low", "medium", "high", "critical")
ROUTES = ("auto", "review", "must_review", "escalation")
STATE_BUCKETS = ("H", "C", "P", "X", "A", "U", "R", "Q")


def instant_of(text):
    """Section 1.5: the milliseconds of an instant's text."""
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return (moment - EPOCH) // timedelta(milliseconds=1)


def instant_text(instant):
    """Section 1.5: the text of an instant in milliseconds."""
    moment = EPOCH + timedelta(milliseconds=instant)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def number_text(value):
    """Section 1.6, `text`. Python's own `repr` has the same digits, but another layout."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    minus = "-" if sign else ""
    first, *rest = map(str, digits)
    if 1e-6 <= abs(value) < 1e21:
        return minus + format(Decimal((0, digits, exponent)), "f")
    point = "." if rest else ""
    return f"{minus}{first}{point}{''.join(rest)}e{exponent + len(rest):+d}"


def figure(value, decimals):
    """Section 1.6."""
    rounded = round_to(value, decimals)
    return "almost 0" if 0 < rounded < 1e-6 else number_text(rounded)


def percent(share):
    """Section 1.6."""
    for decimals in range(1, 9):
        shown = figure(100 * share, decimals)
        if shown != "0":
            return f"{shown} %"
    return f"{figure(100 * share, 9)} %"


# ---- sections 2 and 3: the state and its buckets ----------------------------------------------------------


def initial_state(document):
    """Section 2: the state of an operator without a record."""
    return {
        "v": document["version"],
        "n": 0,
        "t0": None,
        "t1": None,
        "b": {name: [0, 0] for name in STATE_BUCKETS},
        "K": {name: [0, 0] for name in FIRST_DOMAINS},
        "rt": {"n": 0, "mu": 0, "s2": 0},
        "im": 0,
        "err": None,
        "ef": None,
        "es": None,
        "disp": None,
        "jis": None,
        "cnt": {name: 0 for name in ("pres", "lab", "truth", "dep", "ref", "hs", "crit", "fastAcc")},
        "tcrit": None,
        "share": {"hs": 0, "crit": 0},
    }


@dataclass
class Record:
    """A state that may be changed, with the model document and the domain whose bucket K is meant."""

    document: dict
    state: dict
    domain: str

    def bucket(self, name):
        """Section 3: `K` is that of the domain, empty if the domain never occurred."""
        return self.state["K"].get(self.domain, [0, 0]) if name == "K" else self.state["b"][name]

    def put(self, name, value, weight):
        """Section 3."""
        if not weight > 0:
            return
        bucket = self.bucket(name)
        keep = 1 - weight / self.document["buckets"][name]["capacity"]
        after = [
            quantised(bucket[0] * keep + weight * value),
            quantised(bucket[1] * keep + weight * (1 - value)),
        ]
        buckets, key = (self.state["K"], self.domain) if name == "K" else (self.state["b"], name)
        buckets[key] = after

    def mean(self, name):
        """Section 3."""
        rules = self.document["buckets"][name]
        positive, negative = self.bucket(name)
        prior = rules["prior_mean"] * rules["prior_strength"]
        return (positive + prior) / (positive + negative + rules["prior_strength"])

    def break_even(self, name):
        """Section 3."""
        rules = self.document["buckets"][name]
        positive, negative = self.bucket(name)
        total = positive + negative
        raw = rules["prior_mean"] if total == 0 else positive / total
        share = total / rules["capacity"]
        return share * raw + (1 - share) * self.mean(name)

    def capped(self, name, value, inert):
        """Section 3, `cap`."""
        return min(value, self.break_even(name)) if inert else value

    def restraint(self):
        """Section 3."""
        rules = self.document["restraint"]
        return clamp(self.mean("Q") / rules["full_at"], rules["floor"], 1)

    def has_minimum_data(self, now_ms):
        """Section 3, `minimum_data_met`."""
        rules, first = self.document["minimum_data"], self.state["t0"]
        if self.state["n"] >= rules["interactions"]:
            return True
        return first is not None and (now_ms - first) / DAY >= rules["days"]


# ---- section 4: reading an interaction --------------------------------------------------------------------


@dataclass
class Cells:
    """Section 4.1: what a decision is evidence of."""

    hit: float = 0
    miss: float = 0
    right: float = 0
    alarm: float = 0

    def labelled(self):
        """Section 4.1."""
        return self.hit + self.miss + self.right + self.alarm > 0


@dataclass
class Process:
    """Section 4.3; `engagement` is I, None if nothing was measured."""

    time_ms: float
    time: float
    engagement: Optional[float]
    evidence: float
    weight: float
    inert: bool
    plausibility: Optional[float]


def is_presented(interaction):
    """Section 4.1."""
    return (
        interaction["ai_available"]
        and interaction["ai_recommendation_presented"]
        and interaction["scenario_type"] != "ai_withheld"
    )


def is_referral(decision):
    """Section 4.1."""
    return decision in ("deferred", "escalated")


def departure_share(document, interaction):
    """Section 4.1, `s`."""
    if interaction["decision"] in ("rejected", "overridden"):
        return 1
    if interaction["decision"] == "modified":
        rules = document["classification"]
        share = min(1, interaction["modification_extent"] / rules["full_departure_extent"])
        power = share
        for _ in range(rules.get("departure_exponent", 1) - 1):
            power = power * share
        return power
    return 0


def cells_of(document, decision, scenario_type, outcome, departure, ai_correct=None):
    """Section 4.1, the table, for a presented case; section 12.2 for jis-3."""
    rules = document["classification"]
    if document["formulas"] == "jis-3":
        return parts_of_work.cells_of(Cells, rules, decision, scenario_type, outcome, departure, ai_correct)
    if scenario_type == "error_injected":
        if decision == "accepted":
            return Cells(miss=1)
        if decision in ("rejected", "overridden"):
            return Cells(hit=1)
        if decision == "modified":
            if outcome is None:
                caught = departure
            else:
                caught = 1 if outcome else rules["injected_modified_wrong_share"] * departure
            return Cells(hit=caught, miss=1 - caught)
        return Cells(hit=rules["referral_hit"])
    if outcome is None:
        return Cells()
    if outcome:
        if decision == "accepted":
            return Cells(right=1)
        if decision in ("rejected", "overridden"):
            return Cells(hit=1)
        if decision == "modified":
            return Cells(hit=departure, right=1 - departure)
        return Cells(hit=rules["referral_hit"])
    if decision == "accepted":
        return Cells(miss=1)
    if decision in ("rejected", "overridden"):
        return Cells(alarm=1)
    if decision == "modified":
        return Cells(alarm=rules["modified_false_alarm_share"] * departure, miss=1 - departure)
    return Cells(alarm=rules["referral_false_alarm"])


def relief_of(record):
    """Section 4.2, `q`."""
    rules = record.document["relief"]
    discrimination = power(record.mean("H"), rules["hit_exponent"]) * power(
        record.mean("C"), rules["acceptance_exponent"]
    )
    return clamp((discrimination - rules["from_discrimination"]) / rules["over_span"], 0, 1)


def process_of(document, interaction, domain, relief):
    """Section 4.3."""
    rules, limits = document["process"], domain_rules(document, domain)
    time_ms = clamp(interaction["time_to_decision_ms"], rules["min_ms"], rules["max_ms"])
    shrink = 1 - document["relief"]["time_shrink"] * relief
    fast = natural_logarithm(limits["fast_ms"] * shrink)
    full = natural_logarithm(limits["reference_ms"] * shrink)
    time = clamp((natural_logarithm(time_ms) - fast) / (full - fast), 0, 1)

    hovers = interaction["hover_events"]
    scroll = interaction["scroll_depth"]
    views = interaction["alternative_views_checked"]
    if hovers is None and scroll is None and views is None:
        unmeasured = rules["unmeasured"]
        credit = unmeasured["time_credit"] * time
        return Process(time_ms, time, None, credit, unmeasured["weight"], False, None)

    weights, cost = rules["engagement"], rules["plausibility"]
    total = weight = need_ms = 0
    if hovers is not None:
        total = total + weights["hover_weight"] * min(1, hovers / weights["hover_full"])
        weight = weight + weights["hover_weight"]
        need_ms = need_ms + cost["ms_per_hover"] * min(hovers, cost["max_hovers"])
    if scroll is not None:
        total = total + weights["scroll_weight"] * scroll
        weight = weight + weights["scroll_weight"]
    if views is not None:
        total = total + weights["views_weight"] * min(1, views / weights["views_full"])
        weight = weight + weights["views_weight"]
        need_ms = need_ms + cost["ms_per_view"] * min(views, cost["max_views"])
    if scroll is not None:
        need_ms = need_ms + cost["ms_full_scroll"] * scroll
    if hovers is not None and scroll is not None and views is not None:
        weight = 1
    else:
        total = total / weight

    plausibility = None if need_ms == 0 else time_ms / need_ms
    engagement = total * (1 if plausibility is None else min(1, plausibility))
    if interaction["decision"] == "modified" and time > 0:
        bonus = rules["modification_bonus"] * departure_share(document, interaction)
        engagement = min(1, engagement + bonus)
    inert = engagement < rules["inert_below"]
    idle = rules["idle"]
    if time_ms > idle["after_ms"] and engagement < idle["engagement_below"]:
        time = idle["time_factor"] * time
    engaged = min(1, engagement / rules["full_engagement"])
    evidence = time * (rules["time_share"] + rules["engagement_share"] * engaged)
    measured_weight = rules["unmeasured"]["weight"] + rules["measured_weight_span"] * weight
    return Process(time_ms, time, engagement, evidence, measured_weight, inert, plausibility)


def scrutiny_of(document, process, relief):
    """Section 4.3, `r`."""
    rules = document["process"]
    scrutiny = clamp(process.evidence / rules["full_scrutiny"], 0, 1)
    relieved = (1 - scrutiny) * rules["relief_share"] * relief * min(1, process.time / rules["relief_time"])
    return scrutiny + relieved


def credibility_of(record):
    """Section 4.4, `kappa`."""
    rules = record.document["credibility"]
    hits, alarms = record.bucket("H")[0], record.bucket("C")[1]
    return (hits + rules["prior_hits"]) / (hits + alarms + rules["prior_total"])


# ---- section 5: from state to state -----------------------------------------------------------------------


@dataclass
class Reading:
    """Section 5, step 3: an interaction as the later steps use it; `weights` is what is recorded of it."""

    interaction: dict
    now_ms: int
    presented: bool
    referral: bool
    departure: float
    cells: Cells
    process: Process
    weights: dict

    @property
    def outcome(self):
        """Section 4.1."""
        return self.interaction["outcome_correct"]

    @property
    def own_share(self):
        """Section 5, step 6, `own`."""
        return 0 if self.referral else 1 - self.departure


def retain(record, now_ms):
    """Section 5, step 1."""
    rules, state = record.document["retention"], record.state
    gap_days = 0 if state["t1"] is None else max(0, (now_ms - state["t1"]) / DAY)
    beyond_grace = max(0, gap_days - rules["grace_days"])
    if beyond_grace > 0:
        kept = power(1 + rules["hyperbolic_rate_per_day"] * beyond_grace, -rules["exponent"])
        for bucket in [*state["b"].values(), *state["K"].values()]:
            bucket[0] = quantised(bucket[0] * kept)


def stamp(record, now_ms):
    """Section 5, step 2."""
    state = record.state
    state["v"] = record.document["version"]
    if state["t0"] is None:
        state["t0"] = now_ms
    state["t1"] = now_ms if state["t1"] is None else max(state["t1"], now_ms)


def read(record, interaction, now_ms):
    """Section 5, step 3."""
    document, domain = record.document, record.domain
    presented = is_presented(interaction)
    departure = departure_share(document, interaction)
    cells = Cells()
    if presented:
        cells = cells_of(
            document,
            interaction["decision"],
            interaction["scenario_type"],
            interaction["outcome_correct"],
            departure,
            interaction.get("ai_correct"),
        )
    relief = 0 if cells.miss > 0 else relief_of(record)
    process = process_of(document, interaction, domain, relief)
    weights = {
        "omega": document["scenario_weights"][interaction["scenario_type"]],
        "s": departure,
        "r": scrutiny_of(document, process, relief),
        "kappa": credibility_of(record),
        "wP": process.weight,
        "inert": process.inert,
        "domain": domain,
        "presented": presented,
    }
    referral = is_referral(interaction["decision"])
    return Reading(interaction, now_ms, presented, referral, departure, cells, process, weights)


def put_unaided(record, outcome, weights):
    """Section 5, step 5."""
    if outcome is not None:
        value = 1 if outcome else 0
        record.put("U", value, weights["omega"])
        record.put("K", value, weights["omega"])


def put_discrimination(record, cells, weights):
    """Section 5, (6a)."""
    omega = weights["omega"]
    record.put("H", 1, cells.hit * omega)
    record.put("H", 0, cells.miss * omega)
    record.put("C", 1, cells.right * omega)
    record.put("C", 0, cells.alarm * omega)


def put_considered(record, reading):
    """Section 5, (6b)."""
    rules = record.document["updates"]["non_reflexive"]
    cells, weights = reading.cells, reading.weights
    omega, scrutiny = weights["omega"], weights["r"]
    if reading.own_share > 0:
        if cells.miss > 0:
            value = min(scrutiny, rules["wrong_acceptance_cap"]) if reading.process.time > 0 else 0
        else:
            value = record.capped("X", scrutiny, weights["inert"])
        record.put("X", value, reading.own_share * weights["wP"] * omega)
    if reading.departure > 0 and cells.alarm == 0:
        value = 1
        if not cells.hit > 0:
            value = weights["kappa"] * (rules["departure_base"] + rules["departure_scrutiny"] * scrutiny)
        record.put("X", value, rules["departure_weight"] * reading.departure * omega)


def put_labelled_ownership(record, cells, weights):
    """Section 5, (7a)."""
    rules, omega = record.document["updates"]["ownership"], weights["omega"]
    record.put("A", 0, rules["miss_weight"] * cells.miss * omega)
    record.put("A", 0, rules["false_alarm_weight"] * cells.alarm * omega)
    record.put("A", 1, rules["hit_weight"] * cells.hit * omega)
    record.put(
        "A",
        record.capped("A", rules["acceptance_value"] * weights["r"], weights["inert"]),
        rules["acceptance_weight"] * cells.right * omega * weights["wP"],
    )


def put_unlabelled_ownership(record, reading):
    """Section 5, (7b)."""
    rules, weights = record.document["updates"]["ownership"], reading.weights
    omega, scrutiny, inert = weights["omega"], weights["r"], weights["inert"]
    departure, own_share = reading.departure, reading.own_share
    if reading.referral or departure > 0 or (scrutiny > 0 and not inert):
        record.put("Q", own_share, omega)
    if own_share > 0:
        value = record.capped("A", rules["acceptance_value"] * scrutiny, inert)
        record.put("A", value, rules["acceptance_weight"] * own_share * omega * weights["wP"])
    if departure > 0:
        value = weights["kappa"] * (rules["departure_base"] + rules["departure_scrutiny"] * scrutiny)
        record.put("A", value, rules["departure_weight"] * departure * omega)
    if reading.referral:
        value = min(rules["referral_value"], record.break_even("A"))
        record.put("A", value, rules["referral_weight"] * omega)


def put_unaided_proxies_and_domain(record, cells, outcome, weights):
    """Section 5, (7c)."""
    rules, omega = record.document["updates"], weights["omega"]
    proxy = rules["unaided"]["proxy_weight"]
    if outcome is not False:
        record.put("U", 1, proxy * cells.hit * omega)
    record.put("U", 0, proxy * cells.miss * omega)
    record.put("U", 0, proxy * cells.alarm * omega)
    record.put("K", 0 if outcome is False else 1, cells.hit * omega)
    record.put("K", 0, cells.miss * omega)
    record.put("K", 0, cells.alarm * omega)
    if weights["r"] > 0 and not weights["inert"]:
        weight = rules["domain"]["right_acceptance_weight"] * weights["r"] * cells.right * omega
        record.put("K", 1, weight)


def recalibrate(record, reading):
    """Section 5, step 8."""
    rules, window = record.document["recalibration"], record.state["err"]
    if window is None or window["k"] <= 0 or reading.now_ms - window["t"] > rules["window_days"] * DAY:
        record.state["err"] = None
        return
    value, weight = recalibration_of(record, reading, window)
    record.put("R", value, weight * reading.weights["omega"])
    record.state["err"] = None if window["k"] == 1 else {**window, "k": window["k"] - 1}


def recalibration_of(record, reading, window):
    """Section 5, step 8: value and weight of the first line that applies."""
    rules, cells = record.document["recalibration"], reading.cells
    if cells.miss > 0:
        return 0, rules["miss_weight"] * cells.miss
    if cells.alarm > 0:
        name = "repeated_false_alarm_weight" if window["type"] == "under" else "false_alarm_weight"
        return 0, rules[name] * cells.alarm
    if cells.hit > 0:
        return 1, rules["hit_weight"] * cells.hit
    if not reading.presented and reading.outcome is not None:
        return (1 if reading.outcome else 0), rules["unaided_weight"]
    scrutiny = reading.weights["r"]
    if cells.right > 0 and window["type"] == "under":
        value = rules["right_acceptance_base"] + rules["right_acceptance_scrutiny"] * scrutiny
        return value, rules["right_acceptance_weight"]

    process = reading.process
    deviation = natural_logarithm(process.time_ms / 1000) - window["mu"]
    spread = max(window["sd"], rules["sd_floor"])
    slow = clamp(rules["slowing_base"] + rules["slowing_slope"] * deviation / spread, 0, 1)
    engaged = rules["engagement_base"]
    if process.engagement is not None:
        engaged = clamp(rules["engagement_base"] + (process.engagement - window["im"]), 0, 1)
    attention = math.sqrt(scrutiny)
    gain = (rules["slowing_share"] * slow + rules["engagement_share"] * engaged) * attention
    value = rules["scrutiny_share"] * attention + rules["process_share"] * gain
    return record.capped("R", value, process.inert), rules["other_weight"] * process.weight


def update_baseline(record, reading):
    """Section 5, step 9, with the window that an error opens."""
    rules, state = record.document["baseline"], record.state
    times, engagement, cells = state["rt"], reading.process.engagement, reading.cells
    log_seconds = natural_logarithm(reading.process.time_ms / 1000)
    if times["n"] == 0:
        before = {
            "mu": quantised(log_seconds),
            "sd": 0,
            "im": quantised(0 if engagement is None else engagement),
        }
    else:
        before = {
            "mu": times["mu"],
            "sd": quantised(math.sqrt(max(times["s2"], 0))),
            "im": state["im"],
        }
    alpha = max(1 / (times["n"] + 1), 1 / rules["slowest_rate_events"])
    delta = log_seconds - times["mu"]
    if times["n"] >= rules["huber_after"]:
        bound = rules["huber_width"] * math.sqrt(max(times["s2"], rules["variance_floor"]))
        delta = clamp(delta, -bound, bound)
    step = alpha * delta
    state["rt"] = {
        "n": times["n"] + 1,
        "mu": quantised(times["mu"] + step),
        "s2": quantised((1 - alpha) * (times["s2"] + delta * step)),
    }
    if engagement is not None:
        state["im"] = quantised(state["im"] + alpha * (engagement - state["im"]))

    window = record.document["recalibration"]
    kind = None
    if cells.miss >= window["opens_at"]:
        kind = "over"
    elif cells.alarm >= window["opens_at"]:
        kind = "under"
    elif not reading.presented and reading.outcome is False:
        kind = "own"
    if kind is not None:
        state["err"] = {"type": kind, "t": reading.now_ms, "k": window["window_events"], **before}


def count(record, reading):
    """Section 5, step 10."""
    state, interaction = record.state, reading.interaction
    critical = interaction["scenario_type"] == "critical"
    high_stakes = interaction["scenario_type"] == "high_stakes"
    labelled = reading.cells.labelled()
    fast_ms = domain_rules(record.document, record.domain)["fast_ms"]
    state["n"] += 1
    grows = {
        "pres": reading.presented,
        "lab": labelled,
        "truth": labelled or (not reading.presented and reading.outcome is not None),
        "dep": reading.departure > 0 or reading.referral,
        "ref": reading.referral,
        "hs": high_stakes,
        "crit": critical,
        "fastAcc": reading.presented
        and interaction["decision"] == "accepted"
        and interaction["time_to_decision_ms"] < fast_ms,
    }
    for name, holds in grows.items():
        state["cnt"][name] += 1 if holds else 0
    if critical:
        state["tcrit"] = reading.now_ms
    rate = max(1 / state["n"], 1 / record.document["shares"]["span"])
    share = state["share"]
    share["hs"] = quantised(share["hs"] + rate * ((1 if high_stakes or critical else 0) - share["hs"]))
    share["crit"] = quantised(share["crit"] + rate * ((1 if critical else 0) - share["crit"]))


def record_score(record, jis, accepted_error):
    """Section 5, step 11; `accepted_error` is miss > 0."""
    rules, state = record.document["score"], record.state
    for name, span in (("ef", rules["fast_span"]), ("es", rules["slow_span"])):
        average = state[name]
        state[name] = jis if average is None else quantised(average + (jis - average) / span)
    display = rules["display"]
    if state["disp"] is None:
        state["disp"] = jis
    else:
        step = clamp(display["rate"] * (jis - state["disp"]), -display["max_fall"], display["max_rise"])
        if accepted_error or (state["jis"] is not None and jis < state["jis"]):
            step = min(0, step)
        state["disp"] = quantised(state["disp"] + step)
    state["jis"] = jis


# ---- section 6: dimensions, JIS and interval --------------------------------------------------------------


def mode_weights(document, mode):
    """Section 6: the computed dimensions in their order, each with its weight."""
    name = "lite_weight" if mode == "lite" else "weight"
    rows = document["dimensions"]
    if document["formulas"] == "jis-3":
        return {dimension: rows[dimension][name] for dimension in DIMENSIONS if name in rows[dimension]}
    return {dimension: rows[dimension][name] for dimension in DIMENSIONS if rows[dimension][name] > 0}


def dimension_value(record, dimension):
    """Section 6, `value`."""
    row = record.document["dimensions"][dimension]
    value = record.restraint() if row["restraint"] else 1
    for name in FACTORS:
        if name in row["exponents"]:
            exponent = row["exponents"][name]
            value = value * (record.mean(name) if exponent == 1 else power(record.mean(name), exponent))
    return value


def dimensions_of(record, mode):
    """Section 6, `D`; section 12.4 for jis-3."""
    names = mode_weights(record.document, mode)
    judged = {}
    if record.document["formulas"] == "jis-3":
        judged = judge(record.document, parts_of_work.of(record.state), mode).dimensions
    return {
        name: judged[name] if name in judged else to_dimension(dimension_value(record, name)) for name in names
    }


def jis_of(document, dimensions, mode):
    """Section 6."""
    total = 0
    for name, weight in mode_weights(document, mode).items():
        total = total + weight * dimensions[name]
    return round_to(total, 2)


def band_of(document, jis):
    """Section 6."""
    for band in ("exemplary", "proficient", "adequate"):
        if jis >= document["bands"][band]:
            return band
    return "at_risk"


def uncertainty_of(record, jis, mode):
    """Section 6, the interval."""
    document = record.document
    if document["formulas"] == "jis-3":
        return judge(document, parts_of_work.of(record.state), mode).uncertainty(document, jis)
    rows, restraint, rules = document["dimensions"], document["restraint"], document["uncertainty"]
    weights = mode_weights(document, mode)
    values = {dimension: dimension_value(record, dimension) for dimension in weights}
    restraint_moves = restraint["floor"] < record.mean("Q") / restraint["full_at"] < 1
    variance = 0
    for name in (*FACTORS, "Q"):
        mean, total = record.mean(name), 0
        for dimension, weight in weights.items():
            row = rows[dimension]
            if name == "Q":
                elasticity = 1 if row["restraint"] and restraint_moves else 0
            else:
                elasticity = row["exponents"].get(name, 0)
            if elasticity != 0:
                total = total + weight * (values[dimension] * elasticity / mean)
        slope = 100 * total
        if slope != 0:
            positive, negative = record.bucket(name)
            strength = document["buckets"][name]["prior_strength"]
            variance = variance + slope * slope * (mean * (1 - mean) / (positive + negative + strength + 1))
    reach = rules["z"] * math.sqrt(variance) * rules["calibration_factor"]
    hits, accepted = record.bucket("H"), record.bucket("C")
    return {
        "level": rules["level"],
        "low": clamp(math.floor((jis - reach) * 10) / 10, 0, 100),
        "high": clamp(math.ceil((jis + reach) * 10) / 10, 0, 100),
        "effective_n": round_to(hits[0] + hits[1] + accepted[0] + accepted[1], 1),
    }


# ---- section 7: the result of a score ---------------------------------------------------------------------


def decay_projection_of(record, jis):
    """Section 7.1."""
    document, state, domain = record.document, record.state, record.domain
    rules, row = document["decay"], domain_rules(document, domain)
    difference = clamp(state["ef"] - state["es"], -rules["trend_limit"], rules["trend_limit"])
    ramp = clamp((state["n"] - rules["trend_from_interactions"]) / rules["trend_ramp_interactions"], 0, 1)
    trend = round_to(difference * ramp, 2)
    if trend < 0:
        multiplier = min(rules["decline_max"], 1 + rules["decline_slope"] * -trend)
    else:
        multiplier = max(rules["improve_min"], 1 - rules["improve_slope"] * trend)
    rate = round_to(row["decay_rate"] * multiplier, 6)
    acceleration = round_to(row["decay_acceleration"] * multiplier, 8)
    floor = row["floor"]

    def projected(day):
        if jis <= floor:
            return jis
        return floor + (jis - floor) * exponential(-(rate * day + 0.5 * acceleration * day * day))

    def days_to_non_compliance():
        minimum = document["thresholds"]["min_jis"]
        if jis < minimum:
            return 0
        if floor >= minimum:
            return None
        if rate == 0 and acceleration == 0:
            return None
        target = natural_logarithm((jis - floor) / (minimum - floor))
        if acceleration == 0:
            crossing = target / rate
        else:
            crossing = (-rate + math.sqrt(rate * rate + 2 * acceleration * target)) / acceleration
        days = math.floor(crossing) + 1
        return None if days > rules["horizon_days"] else days

    return {
        "current_jis": jis,
        "current_trend": trend,
        "domain": domain,
        "decay_rate": rate,
        "decay_acceleration": acceleration,
        "floor": floor,
        "recovery_rate": row["recovery_rate"],
        "days_to_non_compliance": days_to_non_compliance(),
        "projections": [{"day": day, "jis": round_to(projected(day), 1)} for day in rules["projection_days"]],
    }


def below_floor(document, dimensions):
    """Section 7.2: the computed floor dimensions that are below the floor."""
    rules = document["thresholds"]
    return [
        name
        for name in rules["floor_dimensions"]
        if name in dimensions and dimensions[name] < rules["dimension_floor"]
    ]


def compliance_of(document, jis, dimensions, days, verdict=None):
    """Section 7.2; with the verdict of section 12.5."""
    rules = document["thresholds"]
    status = "compliant"
    if verdict is not None:
        status = verdict["status"]
    elif jis < rules["min_jis"]:
        status = "non_compliant"
    elif below_floor(document, dimensions):
        status = "conditional"
    met = status == "compliant"
    soon = days is not None and days <= rules["action_required_days"]
    return {
        "band": band_of(document, jis),
        "status": status,
        "jis": jis,
        "article14_met": met,
        "action_required": not met or soon,
        "thresholds": {"min_jis": rules["min_jis"], "target_jis": rules["target_jis"]},
        **({} if verdict is None else {"verdict": verdict}),
    }


def maintenance_conditions(document, jis, dimensions, days, trend, verdict):
    """Section 7.3: level and reason of each row of the table that has a level and applies; section 12.6 for jis-3."""
    rules, levels = document["thresholds"], document["maintenance"]
    minimum, status = rules["min_jis"], None if verdict is None else verdict["status"]
    if status == "undetermined":
        yield "medium", f"undetermined_{verdict['doubt']}"
    elif jis < rules["critical_jis"]:
        yield "critical", f"jis_below_critical_{number_text(rules['critical_jis'])}"
    elif jis < minimum:
        yield "high", f"jis_below_minimum_{number_text(minimum)}"
    elif status == "non_compliant":
        yield "high", f"{verdict['part']}_below_minimum_{number_text(minimum)}"
    elif jis < rules["target_jis"]:
        yield "low", f"jis_below_target_{number_text(rules['target_jis'])}"
    if jis >= minimum and days is not None:
        for level in ("medium", "low"):
            limit = levels["projected_days"][level]
            if days <= limit:
                yield level, f"non_compliance_projected_within_{number_text(limit)}_days"
                break
    if trend <= levels["trend"]["medium"]:
        yield "medium", "steep_declining_trend"
    elif trend <= levels["trend"]["low"]:
        yield "low", "declining_trend"
    for name in below_floor(document, dimensions) if verdict is None else ():
        yield "high", f"{name}_below_floor_{number_text(rules['dimension_floor'])}"


def weakest_dimension(document, dimensions, mode):
    """Section 7.3, the target if no truth is wanted; max and min take the first of equals."""
    weights, target = mode_weights(document, mode), document["thresholds"]["target_jis"]
    costs = {name: weights[name] * max(0, target - value) for name, value in dimensions.items()}
    if document["formulas"] == "jis-3":
        costs = {name: quantised(cost) for name, cost in costs.items()}
    costliest = max(costs, key=costs.get)
    return costliest if costs[costliest] > 0 else min(dimensions, key=dimensions.get)


def has_truth(record):
    """Whether enough cases are known, sections 7 and 12.6."""
    document, state = record.document, record.state
    if document["formulas"] == "jis-3":
        known = parts_of_work.of(state)
        live = [natural + planted for natural, planted in zip(known["n"], known["p"])]
        return parts_of_work.lacking(document["discrimination"], live)[0] == 0
    return state["cnt"]["truth"] >= document["minimum_data"]["ground_truth"]


def maintenance_of(record, jis, dimensions, mode, days, trend, now_ms, verdict):
    """Section 7.3."""
    document, rules = record.document, record.document["maintenance"]
    rank = URGENCIES.index
    urgency, reasons = "none", []
    for level, reason in maintenance_conditions(document, jis, dimensions, days, trend, verdict):
        urgency = max(urgency, level, key=rank)
        reasons.append(reason)
    has_minimum_data = record.has_minimum_data(now_ms)
    if not has_minimum_data:
        urgency = min(urgency, rules["provisional_cap"], key=rank)
        reasons.append("insufficient_data_provisional")
    lacks_truth = not has_truth(record)
    if lacks_truth:
        reasons.append("no_ground_truth_evidence")
    minimum = document["thresholds"]["min_jis"]
    is_part_below = verdict is not None and verdict["status"] == "non_compliant" and jis >= minimum
    if is_part_below or (mode == "full" and has_minimum_data and lacks_truth and urgency != "none"):
        target = rules["truth_target"]
    else:
        target = weakest_dimension(document, dimensions, mode)
    if target in dimensions and dimensions[target] < document["thresholds"]["target_jis"]:
        reasons.append(f"weakest_dimension_{target}")

    withhold = rules["withhold"]
    weak = any(
        name in dimensions and dimensions[name] < withhold["below"] for name in withhold["dimensions"]
    )
    next_days = rules["levels"][urgency]["next_days"]
    if days is not None and days > 0:
        next_days = min(next_days, max(1, days // 2))
    return {
        "urgency": urgency,
        "trigger_intervention": rank(urgency) >= rank(rules["triggers_at"]),
        "recommendation": {
            "intervention_type": "none" if urgency == "none" else rules["interventions"][target],
            "intervention_frequency": rules["levels"][urgency]["frequency"],
            "recommend_withhold": urgency != "none" and weak,
            "reasons": reasons,
            "next_assessment": instant_text(now_ms + next_days * DAY),
        },
    }


def mode_name(mode):
    """Section 7."""
    return "lite" if mode == "lite" else "standard"


def score_result(record, jis, dimensions, mode, now_ms):
    """Section 7, all members that are computed; the record's state is the one after."""
    document, state = record.document, record.state
    decay = decay_projection_of(record, jis)
    days, trend = decay["days_to_non_compliance"], decay["current_trend"]
    provisional = not (record.has_minimum_data(now_ms) and has_truth(record))
    verdict, more = None, {}
    if document["formulas"] == "jis-3":
        judged = judge(document, parts_of_work.of(state), mode)
        verdict, more = judged.verdict, {"prior_dimensions": judged.prior_dimensions}
    return {
        "jis": jis,
        "displayed_jis": round_half_up(jis if mode == "lite" else state["disp"]),
        "band": band_of(document, jis),
        "dimensions": dimensions,
        "decay_projection": decay,
        "compliance": compliance_of(document, jis, dimensions, days, verdict),
        "maintenance_recommendation": maintenance_of(
            record, jis, dimensions, mode, days, trend, now_ms, verdict
        ),
        "mode": mode_name(mode),
        "provisional": provisional,
        "committed": not provisional,
        "dimensions_computed": len(dimensions),
        "uncertainty": uncertainty_of(record, jis, mode),
        **more,
    }


def is_announced(document, scenario_type):
    """Section 12.1: whether the case moves no bucket."""
    return document["formulas"] == "jis-3" and scenario_type == "calibration"


def score(document, state, interaction, domain, now_ms, mode):
    """Sections 5 to 7: the state after, the weights and the computed members of the result.

    A `state` of None is that of a new operator. Section 5, step 4, stands here itself.
    """
    before = initial_state(document) if state is None else copy.deepcopy(state)
    record = Record(document, before, domain)
    interaction = parts_of_work.as_measured(document, before, interaction)
    retain(record, now_ms)
    stamp(record, now_ms)
    reading = read(record, interaction, now_ms)
    process, cells, weights = reading.process, reading.cells, reading.weights
    if not is_announced(document, interaction["scenario_type"]):
        record.put("P", record.capped("P", process.evidence, process.inert), process.weight * weights["omega"])
        if reading.presented:
            put_discrimination(record, cells, weights)
            put_considered(record, reading)
            put_labelled_ownership(record, cells, weights)
            if not cells.labelled():
                put_unlabelled_ownership(record, reading)
            put_unaided_proxies_and_domain(record, cells, reading.outcome, weights)
        else:
            put_unaided(record, reading.outcome, weights)
        recalibrate(record, reading)
        update_baseline(record, reading)
    count(record, reading)
    if document["formulas"] == "jis-3" and "ev" not in record.state:
        record.state.update(ef=None, es=None, disp=None)
    parts_of_work.count_interaction(document, record.state, reading, domain, now_ms)
    full_jis = jis_of(document, dimensions_of(record, "full"), "full")
    record_score(record, full_jis, cells.miss > 0)
    dimensions = dimensions_of(record, mode)
    jis = jis_of(document, dimensions, mode)
    return record.state, weights, score_result(record, jis, dimensions, mode, now_ms)


# ---- sections 8 to 10: skipped calls, commits, labels, decisions ------------------------------------------


def skip(mode):
    """Section 8: the computed members of a skipped call's result."""
    return {"skipped": True, "reason": "incident_frozen", "jis": None, "mode": mode_name(mode)}


def commit(result):
    """Section 8: the result of a commit, from that of its score."""
    return {**result, "provisional": False, "committed": True}


def label(document, given):
    """Section 9: the state that a late label leaves."""
    names = ("state", "weights", "decision", "scenario_type", "label")
    state, weights, decision, scenario_type, outcome = (given[name] for name in names)
    is_counted = "ai_correct_at_scoring" in given and weights["presented"] and decision != "modified"
    ai_correct = given.get("ai_correct", given.get("ai_correct_at_scoring"))
    if document["formulas"] == "jis-3" and is_counted:
        return copy.deepcopy(state)
    record = Record(document, copy.deepcopy(state), weights["domain"])
    begins = document["formulas"] == "jis-3" and "ev" not in record.state
    if begins:
        begun = {"v": document["version"], "ef": None, "es": None, "disp": None}
        record.state.update(begun, ev=parts_of_work.none_yet())
    counters = record.state["cnt"]
    if weights["presented"]:
        cells = cells_of(
            document, decision, scenario_type, outcome, weights["s"], ai_correct
        )
        if not is_announced(document, scenario_type):
            put_discrimination(record, cells, weights)
            put_labelled_ownership(record, cells, weights)
            put_unaided_proxies_and_domain(record, cells, outcome, weights)
        counters["lab"] += 1
        if document["formulas"] == "jis-3":
            case = (weights["domain"], scenario_type)
            is_unclear = parts_of_work.is_unclear(decision, scenario_type, outcome, ai_correct)
            parts_of_work.count_case(document, record.state["ev"], case, (cells, is_unclear), is_new=False)
    elif not is_announced(document, scenario_type):
        put_unaided(record, outcome, weights)
    if begins or (document["formulas"] == "jis-3" and weights["presented"]):
        record.state["jis"] = jis_of(document, dimensions_of(record, "full"), "full")
    counters["truth"] += 1
    return record.state


def domain_rules(document, domain):
    """Section 1.7: those of `general` if the document is older than the domain."""
    return document["domains"].get(domain, document["domains"]["general"])


def severity_bonus(document, scenario_type):
    """Section 10, `bonus`."""
    if scenario_type in ("high_stakes", "critical"):
        return document["drs"]["severity_bonus"][scenario_type]
    return 0


def graver_scenario(document, scenario_type, stakes):
    """Section 10, `case`."""
    if stakes is None:
        return scenario_type
    implied = document["drs"]["stakes_scenario"][stakes]
    graver = severity_bonus(document, implied) > severity_bonus(document, scenario_type)
    return implied if graver else scenario_type


def policy_triggers_of(
    record, interaction, *, jis, critical, departure, credibility, plausibility, now_ms, verdict
):
    """Section 10, `policy_triggers`."""
    document, domain, interactions = record.document, record.domain, record.state["n"]
    rules, limits, row = document["drs"], document["thresholds"], domain_rules(document, domain)
    high_risk, status = row["high_risk"], None if verdict is None else verdict["status"]
    known = interactions > 0 if status is None else status == "non_compliant"
    proven = record.has_minimum_data(now_ms) and status != "undetermined"
    time_ms = interaction["time_to_decision_ms"]
    reflexive = interaction["decision"] == "accepted" and time_ms < row["fast_ms"]
    trusted = rules["low_credibility"]
    time_shown, fast_shown = number_text(time_ms), number_text(row["fast_ms"])
    reckoned = f"JIS of {number_text(jis)}, reckoned for {domain} as of this decision, is below the"
    noun = "interaction" if interactions == 1 else "interactions"
    rows = (
        (
            "P1_CRITICAL_REFLEXIVE_ACCEPT",
            critical and reflexive,
            "escalation",
            f"A critical case was accepted in {time_shown} ms, "
            f"below the {fast_shown} ms that {domain} counts as reflexive.",
        ),
        (
            "P2_OPERATOR_BELOW_CRITICAL",
            known and jis < limits["critical_jis"],
            "escalation" if high_risk or critical else "must_review",
            f"The operator's {reckoned} critical level of {number_text(limits['critical_jis'])}.",
        ),
        (
            "P3_OPERATOR_BELOW_MINIMUM",
            known and limits["critical_jis"] <= jis < limits["min_jis"],
            "must_review" if high_risk else "review",
            f"The operator's {reckoned} minimum of {number_text(limits['min_jis'])}.",
        ),
        (
            "P4_REFLEXIVE_ACCEPT_HIGH_RISK",
            high_risk and reflexive,
            "must_review",
            f"A recommendation in {domain}, a high-risk domain, "
            f"was accepted in {time_shown} ms, below {fast_shown} ms.",
        ),
        (
            "P5_LOW_CREDIBILITY_DEPARTURE",
            departure >= trusted["departure"] and credibility < trusted["credibility"],
            "review",
            "The recommendation was departed from, and departures of this operator are trusted "
            f"{percent(credibility)}, below {percent(trusted['credibility'])}.",
        ),
        (
            "P6_UNPROVEN_OPERATOR_CRITICAL",
            critical and not proven,
            "must_review",
            f"A critical case was decided by an operator with only {number_text(interactions)} {noun} on record."
            if status is None
            else f"A critical case was decided by an operator of whom the record, {number_text(interactions)} {noun} "
            "long, allows no verdict yet.",
        ),
        (
            "P7_IMPLAUSIBLE_TELEMETRY",
            plausibility is not None and plausibility < rules["implausible_below"],
            "review",
            f"The activity reported takes far longer than the {time_shown} ms spent.",
        ),
    )
    return [
        {
            "policy": policy,
            "triggered": triggered,
            "minimum_route": route,
            "evidence": evidence if triggered else None,
        }
        for policy, triggered, route, evidence in rows
    ]


def route_of(document, risk):
    """Section 10, `route`."""
    limits = document["drs"]["routes"]
    if risk < limits["review"]:
        return "auto"
    if risk < limits["must_review"]:
        return "review"
    return "must_review" if risk < limits["escalation"] else "escalation"


def decide(document, state, interaction, domain, now_ms, stakes):
    """Section 10: the computed members of a decision's result; `state` None is a new operator's."""
    read_only = initial_state(document) if state is None else copy.deepcopy(state)
    record = Record(document, read_only, domain)
    interaction = parts_of_work.as_measured(document, read_only, interaction)
    retain(record, now_ms)
    if document["formulas"] == "jis-3" and "ev" in record.state:
        parts_of_work.fade(document, record.state["ev"], now_ms)
    rules, row = document["drs"], domain_rules(document, domain)
    jis = jis_of(document, dimensions_of(record, "full"), "full")
    verdict, more = None, {}
    if document["formulas"] == "jis-3":
        verdict = judge(document, parts_of_work.of(record.state), "full").verdict
        more = {"operator_verdict": verdict}
    process = process_of(document, interaction, domain, relief_of(record))
    credibility = credibility_of(record)
    departure = departure_share(document, interaction)

    shares, unsupported = rules["acceptance"], 1 - process.evidence
    accepting = shares["process_weight"] * unsupported + shares["hit_weight"] * (1 - record.mean("H"))
    shares = rules["departure"]
    departing = shares["process_weight"] * unsupported + shares["credibility_weight"] * (1 - credibility)
    if is_referral(interaction["decision"]):
        base = rules["referral_likelihood"]
    else:
        base = (1 - departure) * accepting + departure * departing
    unknown = 1 - min(1, record.state["n"] / rules["novelty"]["interactions"])
    likelihood = clamp(base + rules["novelty"]["weight"] * unknown, rules["likelihood_min"], 1)

    scenario_type = graver_scenario(document, interaction["scenario_type"], stakes)
    severity = min(1, row["severity"] + severity_bonus(document, scenario_type))
    risk = round_half_up(
        100 * power(likelihood, rules["likelihood_exponent"]) * power(severity, rules["severity_exponent"])
    )
    triggers = policy_triggers_of(
        record,
        interaction,
        jis=jis,
        critical=scenario_type == "critical",
        departure=departure,
        credibility=credibility,
        plausibility=process.plausibility,
        now_ms=now_ms,
        verdict=verdict,
    )
    routes = [trigger["minimum_route"] for trigger in triggers if trigger["triggered"]]
    return {
        "decision_risk_score": risk / 100,
        "routing_decision": max([route_of(document, risk), *routes], key=ROUTES.index),
        "policy_triggers": triggers,
        "factors": [
            {"name": "likelihood", "value": round_to(likelihood, 2), "weight": rules["likelihood_exponent"]},
            {"name": "severity", "value": round_to(severity, 2), "weight": rules["severity_exponent"]},
            {"name": "process_evidence", "value": round_to(process.evidence, 2), "weight": None},
            {"name": "operator_jis", "value": jis, "weight": None},
        ],
        "operator_uncertainty": uncertainty_of(record, jis, "full"),
        **more,
    }


# ---- entries ----------------------------------------------------------------------------------------------


@dataclass
class Replayed:
    """What an entry's input leads to; None for what its kind of entry does not have."""

    result: Optional[dict] = None
    weights: Optional[dict] = None
    state: Optional[dict] = None


def replay(event_type, document, input_part, entry_id):
    """The table at the top of formulas.md: replays an entry that has an input."""
    now_ms = instant_of(input_part["as_of"])
    algorithm = input_part["algo"]
    model = {"version": algorithm["model_version"], "sha256": algorithm["model_sha256"]}

    def echo(*names):
        return {name: input_part[name] for name in names}

    if event_type == "OUTCOME_LABELLED":
        return Replayed(state=label(document, input_part))
    if event_type == "DRS_COMPUTED":
        names = ("state", "interaction", "domain")
        decided = decide(document, *(input_part[name] for name in names), now_ms, input_part["stakes"])
        echoed = echo("decision_id", "operator_id", "domain")
        return Replayed(result={**decided, **echoed, "audit_id": entry_id, "model": model})
    echoed = {**echo("session_id", "operator_id", "role_tier", "mode_override"), "model": model}
    if event_type == "SCORE_SKIPPED":
        return Replayed(result={**skip(input_part["mode"]), **echoed})
    names = ("state", "interaction", "domain")
    state, weights, result = score(
        document, *(input_part[name] for name in names), now_ms, input_part["mode"]
    )
    return Replayed(result={**result, **echoed}, weights=weights, state=state)


def differences(recorded, replayed, path=""):
    """Every place where two JSON values differ, numbers compared exactly."""
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        for name in sorted({*recorded, *replayed}):
            if name in recorded and name in replayed:
                yield from differences(recorded[name], replayed[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}: only {'recorded' if name in recorded else 'replayed'}"
    elif isinstance(recorded, list) and isinstance(replayed, list):
        if len(recorded) != len(replayed):
            yield f"{path}: {len(recorded)} recorded, {len(replayed)} replayed"
        for index, (one, other) in enumerate(zip(recorded, replayed)):
            yield from differences(one, other, f"{path}.{index}")
    elif isinstance(recorded, bool) != isinstance(replayed, bool) or recorded != replayed:
        yield f"{path}: {recorded!r} recorded, {replayed!r} replayed"


REPLAYED_EVENTS = ("SCORE_COMPUTED", "SCORE_SKIPPED", "DRS_COMPUTED", "OUTCOME_LABELLED")


class Bundles:
    """Replays the entries of one bundle, or of several in one file, in their order."""

    def __init__(self):
        self.documents = {}
        self.states = {}
        self.score_results = {}
        self.replayed = 0
        self.not_given = 0
        self.found = []

    def check(self, entry_line, parts):
        """Replays one entry, given as its line; `parts` has the data of those parts that are given."""
        entry = json.loads(entry_line)
        event_type = entry["event_type"]
        if event_type not in (*REPLAYED_EVENTS, "SCORE_COMMITTED"):
            return
        if any(name not in parts for name in entry["commit"]):
            self.not_given += 1
            return
        where, recorded = f"entry {entry['seq']} of {entry['chain']}", parts.get("result")
        if event_type == "SCORE_COMMITTED":
            scored = self.score_results.get(parts["detail"]["ref_entry_hash"])
            if scored is None:
                self.not_given += 1
                return
            self.replayed += 1
            self.compare(f"{where}: result", recorded, commit(scored))
            return
        input_part = parts["input"]
        document = self.documents.get(input_part["algo"]["model_sha256"])
        if document is None:
            self.found.append(f"{where}: its model document is not in the file")
            return
        self.replayed += 1
        again = replay(event_type, document, input_part, entry["id"])
        self.compare(f"{where}: result", recorded, again.result)
        prior = input_part["prior"]
        if prior is None:
            self.compare(f"{where}: input.state", input_part["state"], None)
        elif prior["entry_hash"] in self.states:
            self.compare(f"{where}: input.state", input_part["state"], self.states[prior["entry_hash"]])
        entry_hash = hashlib.sha256(b"\x00" + entry_line.rstrip("\n").encode()).hexdigest()
        if event_type == "SCORE_COMPUTED":
            self.compare(f"{where}: input.weights", input_part["weights"], again.weights)
            if recorded["provisional"]:
                self.score_results[entry_hash] = recorded
        if again.state is not None:
            if prior is not None:
                self.states.pop(prior["entry_hash"], None)
            self.states[entry_hash] = again.state

    def compare(self, where, recorded, replayed):
        """Notes what differs."""
        self.found.extend(differences(recorded, replayed, where))


def check_bundles(lines):
    """Replays bundles given as an iterable of their lines."""
    bundles, entry_line, parts = Bundles(), None, {}
    for line in lines:
        value = json.loads(line)
        kind = value.get("kind")
        if kind == "jis.model/1":
            bundles.documents[value["sha256"]] = value["document"]
        elif kind == "jis.part/1" and "data" in value:
            parts[value["name"]] = value["data"]
        elif kind is None:
            if entry_line is not None:
                bundles.check(entry_line, parts)
            entry_line, parts = line, {}
    if entry_line is not None:
        bundles.check(entry_line, parts)
    return bundles


def main(path):
    """Prints what differs, and the counts; returns the exit status."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        bundles = check_bundles(lines)
    for text in bundles.found:
        print(text)
    print(
        f"{bundles.replayed} entries replayed, {len(bundles.found)} differences, "
        f"{bundles.not_given} not replayed as what they rest on is not given"
    )
    if bundles.found:
        return 1
    return 0 if bundles.replayed > 0 else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
