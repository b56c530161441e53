"""The known cases of jis-3 and its reading of an interaction, docs/verify/formulas.md sections 12.1 and 12.2."""
import math

from arithmetic import power, quantised

_DAY = 86_400_000
_BITS = {"hover_events": 1, "scroll_depth": 2, "alternative_views_checked": 4}
_GRAVE = ("high_stakes", "critical")


def none_yet():
    """Section 12.1: the known cases of an operator whom jis-3 did not score."""
    return {**{name: [0] * 8 for name in "npsca"}, "d": {}, "q": {}, "u": {}, "t": None, "m": 0}


def of(state):
    """The known cases of a state."""
    return state.get("ev") or none_yet()


def lacking(rules, part):
    """Section 12.1: how many more known cases of wrong and of right advice there must be."""
    hit, miss, right, alarm, wrong_cases, right_cases = part[:6]

    def of(needed, known, weight):
        return max(0, needed - known, math.ceil(needed / 2 - weight))

    wrong = of(rules["wrong_cases"], wrong_cases, hit + miss)
    return wrong, of(rules["right_cases"], right_cases, right + alarm)


def faded(part, kept):
    """Section 12.1: a part of whose weights a share is kept."""
    return [quantised(value * kept) if index < 4 or index == 7 else value for index, value in enumerate(part)]


def kept_share(document, days):
    """Section 12.1: the share of a weight that is kept after so many days."""
    return power(0.5, days / document["discrimination"]["half_life_days"])


def fade(document, known, now_ms):
    """Section 12.1: the whole of the live cases as it reads at an instant."""
    today = now_ms // _DAY
    if known["t"] is None:
        graves = {"high_stakes": known["s"], "critical": known["c"]}
        known["u"] = dict.fromkeys([*(name for name, part in graves.items() if sum(part[4:7]) > 0), *known["d"]], today)
    days = 0 if known["t"] is None else max(0, today - known["t"])
    kept = kept_share(document, days)
    known["n"], known["p"] = faded(known["n"], kept), faded(known["p"], kept)
    if "all" in known.get("e", {}):
        known["e"]["all"] = faded(known["e"]["all"], kept)
    known["t"] = today if known["t"] is None else known["t"] + days


def as_of_latest(known, name):
    """Section 12.1: the natural and the planted cases of a part as they were on the day of the latest one, and those of
    the natural ones that were sealed probes.
    """
    sealed = sealed_of(known, name)
    if name in _GRAVE:
        return known["s" if name == "high_stakes" else "c"], [0] * 8, sealed
    return known["d"].get(name, [0] * 8), known["q"].get(name, [0] * 8), sealed


def sealed_of(known, name):
    """Section 12.1: the sealed probes of a part; `all` is the whole."""
    return known.get("e", {}).get(name, [0] * 8)


def without_sealed(natural, sealed):
    """Section 12.4: the natural cases of a part that were no probes."""
    return [max(0, quantised(value - probes)) for value, probes in zip(natural, sealed)]


def as_of_today(document, known, name):
    """Section 12.1: the same, faded to the day of the whole."""
    today = known["t"] or 0
    kept = kept_share(document, today - known["u"].get(name, today))
    return tuple(faded(part, kept) for part in as_of_latest(known, name))


def as_measured(document, state, interaction):
    """Section 12.2: telemetry that was zero in the whole history reads as null."""
    if document["formulas"] != "jis-3":
        return interaction
    seen = of(state)["m"]
    unmeasured = {name: None for name, bit in _BITS.items() if interaction[name] == 0 and not seen & bit}
    return {**interaction, **unmeasured}


def count_interaction(document, state, reading, domain, now_ms):
    """Section 12.1: what a score does to the known cases."""
    if document["formulas"] != "jis-3":
        state.pop("ev", None)
        return
    known = state.setdefault("ev", none_yet())
    for name, bit in _BITS.items():
        if (reading.interaction[name] or 0) > 0:
            known["m"] |= bit
    scenario_type = reading.interaction["scenario_type"]
    if scenario_type != "calibration":
        fade(document, known, now_ms)
    if reading.presented:
        case = (domain, scenario_type)
        told = (reading.interaction.get(name) for name in ("decision", "scenario_type", "outcome_correct", "ai_correct"))
        is_probe = reading.interaction.get("sealed_probe", False)
        count_case(document, known, case, (reading.cells, is_unclear(*told)), is_new=True, is_probe=is_probe)


def is_unclear(decision, scenario_type, outcome, ai_correct):
    """Section 12.2: whether a hit is unclear."""
    known_wrong = scenario_type == "error_injected" or ai_correct is False
    if decision == "modified":
        return not (known_wrong and outcome is True)
    return decision in ("deferred", "escalated") and not known_wrong


def count_case(document, known, case, evidence, is_new, is_probe=False):
    """Section 12.1; `case` is its domain and scenario type, `evidence` its cells and whether a hit is unclear."""
    domain, scenario_type = case
    cells, unclear_hit = evidence
    memory = document["discrimination"]["memory_cases"]

    def counted(part):
        hit, miss, right, alarm, wrong_cases, right_cases, decisions, unclear = part
        if cells.labelled():
            keep = 1 - 1 / memory
            hit, miss = quantised(hit * keep + cells.hit), quantised(miss * keep + cells.miss)
            right, alarm = quantised(right * keep + cells.right), quantised(alarm * keep + cells.alarm)
            is_wrong = cells.hit + cells.miss > cells.right + cells.alarm
            wrong_cases, right_cases = wrong_cases + is_wrong, right_cases + (not is_wrong)
            unclear = quantised(unclear * keep + (cells.hit if unclear_hit else 0))
        decisions += 1 if is_new else 0
        return [hit, miss, right, alarm, wrong_cases, right_cases, decisions, unclear]

    if scenario_type == "calibration":
        known["a"] = counted(known["a"])
        return
    natural, planted, sealed = as_of_today(document, known, domain)
    names = _parts_of(case)
    if scenario_type == "error_injected":
        if domain in known.get("e", {}):
            known["e"][domain] = sealed
        known["p"], planted = counted(known["p"]), counted(planted)
    else:
        _count_sealed(document, known, names, counted if is_probe else None, cells.labelled())
        known["n"], natural = counted(known["n"]), counted(natural)
    known["d"][domain], known["q"][domain] = natural, planted
    for name, member in (("high_stakes", "s"), ("critical", "c")):
        if name in names:
            known[member] = counted(as_of_today(document, known, name)[0])
    if known["t"] is not None:
        known["u"].update(dict.fromkeys(names, known["t"]))


def _parts_of(case):
    """The names of the parts that a live case belongs to, but for the whole."""
    domain, scenario_type = case
    graves = {"high_stakes": _GRAVE[:1], "critical": _GRAVE}
    return [domain, *graves.get(scenario_type, ())]


def _count_sealed(document, known, names, counted, is_known):
    """Section 12.1, `e`: what a natural case does to the sealed probes of its parts; `counted` counts it if it is one of
    them, None if not. It comes before the parts themselves have faded.
    """
    keep = 1 - 1 / document["discrimination"]["memory_cases"]
    for name in ("all", *names):
        if counted is None and name not in known.get("e", {}):
            continue
        sealed = sealed_of(known, name) if name == "all" else as_of_today(document, known, name)[2]
        if counted is not None:
            sealed = counted(sealed)
        elif is_known:
            sealed = faded(sealed, keep)
        known.setdefault("e", {})[name] = sealed


def cells_of(cells, rules, decision, scenario_type, outcome, departure, ai_correct):
    """Section 12.2, the table, for a presented case; `cells` makes the four."""
    ai_right = False if scenario_type == "error_injected" else ai_correct
    if decision == "modified" and outcome is None and scenario_type != "error_injected":
        return cells()
    if ai_right is None:
        if outcome is None:
            return cells()
        if decision == "modified":
            if outcome:
                return cells(hit=departure, right=1 - departure)
            return cells(alarm=rules["modified_false_alarm_share"] * departure, miss=1 - departure)
        ai_right = outcome if decision == "accepted" else not outcome
    if ai_right:
        alarm = _right_advice(rules, decision, outcome, departure)
        return cells(alarm=alarm, right=1 - alarm)
    hit = _wrong_advice(rules, decision, outcome, departure)
    return cells(hit=hit, miss=1 - hit)


def _wrong_advice(rules, decision, outcome, departure):
    if decision == "modified":
        if outcome is None:
            return departure
        return 1 if outcome else rules["injected_modified_wrong_share"] * departure
    return {"accepted": 0, "rejected": 1, "overridden": 1}.get(decision, rules["referral_hit"])


def _right_advice(rules, decision, outcome, departure):
    if decision == "modified":
        return 0 if outcome is True else rules["modified_false_alarm_share"] * departure
    return {"accepted": 0, "rejected": 1, "overridden": 1}.get(decision, rules["referral_false_alarm"])
