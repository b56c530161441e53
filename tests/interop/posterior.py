"""The posterior of jis-3, its points and its verdict, docs/verify/formulas.md sections 12.3 to 12.5."""
import json
import math
from functools import lru_cache

from arithmetic import clamp, exponential, natural_logarithm, round_to, to_dimension
from parts_of_work import as_of_latest, as_of_today, lacking, sealed_of, without_sealed
from shapes import DOMAINS

_DIMENSIONS = (
    *("deferral_resistance", "error_detection", "independent_performance", "deliberation_depth"),
    *("post_error_recalibration", "domain_confidence", "decision_autonomy"),
)
_STATUSES = ("compliant", "undetermined", "non_compliant")
_MOST_NEEDED = 400


class Grid:
    """Section 12.3: rates, their logarithms and the prior of a model; all lists of cells go row after row."""

    def __init__(self, rules):
        size, reach = rules["grid"]["points"], rules["grid"]["reach"]
        logits = [-reach + k * (2 * reach / (size - 1)) for k in range(size)]
        self.size = size
        self.rates = [1 / (1 + exponential(-logit)) for logit in logits]
        self.logs = [natural_logarithm(rate) for rate in self.rates]
        self.logs_of_rest = [natural_logarithm(1 - rate) for rate in self.rates]
        self.prior = _shares([self._density(rules, row, column) for row in logits for column in logits])

    @staticmethod
    def _density(rules, row, column):
        c = ((row + column) / 2 - rules["leaning"]["mean"]) / rules["leaning"]["sd"]
        difference, density = row - column, 0
        for one in rules["sensitivity"]:
            spread = one["sd"] * math.sqrt(1 - one["correlation"] * one["correlation"])
            z = (difference - one["mean"] - one["correlation"] * one["sd"] * c) / spread
            density = density + one["weight"] / spread * exponential(-(z * z) / 2)
        return exponential(-(c * c) / 2) * density

    def weights(self, part):
        """Section 12.3, `posterior`: the weights of the cells, and their total."""
        hit, miss, right, alarm = part[:4]
        of_wrong, of_right = self._likely(hit, miss), self._likely(alarm, right)
        prior, size = self.prior, self.size
        weights = [
            prior[row * size + column] * (of_wrong[row] * of_right[column])
            for row in range(size)
            for column in range(size)
        ]
        return weights, _sum(weights)

    def _likely(self, departed, followed):
        values = [departed * log + followed * rest for log, rest in zip(self.logs, self.logs_of_rest)]
        most = max(values)
        return [exponential(value - most) for value in values]


def _shares(values):
    total = _sum(values)
    return [value / total for value in values]


def _sum(values):
    """One after the other: Python 3.12 and later add up floats otherwise in `sum`."""
    total = 0
    for value in values:
        total = total + value
    return total


class Points:
    """Section 12.4: the tables of a model at one error rate."""

    def __init__(self, document, grid, error_rate):
        rows = document["dimensions"]
        weighty = [name for name in _DIMENSIONS if "false_alarm_cost" in rows[name]]
        pays = document["discrimination"]["review_cost"] / error_rate
        self.dimensions = {
            name: [
                _points(document["thresholds"], rows[name]["false_alarm_cost"], pays, h, f)
                for h in grid.rates
                for f in grid.rates
            ]
            for name in weighty
        }
        self.modes = {
            mode: self._sum_of({name: rows[name].get(weight, 0) for name in weighty})
            for mode, weight in (("full", "weight"), ("lite", "lite_weight"))
        }

    def _sum_of(self, weights):
        table = [0] * len(next(iter(self.dimensions.values())))
        for name, points in self.dimensions.items():
            table = [total + weights[name] * one for total, one in zip(table, points)]
        return table


def _points(thresholds, cost, pays, h, f):
    critical, minimum = thresholds["critical_jis"], thresholds["min_jis"]
    gain = h - cost * f
    if gain < 0:
        return critical + critical * (gain / cost)
    if gain < pays:
        return critical + (minimum - critical) * (gain / pays)
    return minimum + (100 - minimum) * ((gain - pays) / (1 - pays))


def _mean(table, posterior):
    weights, total = posterior
    return _sum(weight * value for weight, value in zip(weights, table)) / total


def _interval(table, posterior, tail):
    """Section 12.4, `interval`."""
    weights, whole = posterior
    tail = tail * whole
    mass = [0] * 1001
    for weight, value in zip(weights, table):
        step = clamp(math.floor(value * 10), 0, 1000)
        mass[step] = mass[step] + weight
    low, total = 0, mass[0]
    while total < tail and low < 1000:
        low += 1
        total = total + mass[low]
    high, total = 1000, mass[1000]
    while total < tail and high > 0:
        high -= 1
        total = total + mass[high]
    return low * 100 / 1000, min(100, (high + 1) * 100 / 1000)


class Work:
    """Some of the work: its natural and its planted cases, and both together; `unsealed` are the natural ones that were
    no probes.
    """

    def __init__(self, natural, planted=None, sealed=None):
        self.natural = natural
        self.planted = planted or [0] * 8
        self.sealed = sealed or [0] * 8
        self.unsealed = without_sealed(natural, self.sealed)
        self.part = [one + other for one, other in zip(natural, self.planted)]


def _sum_of(parts):
    return [sum(numbers) for numbers in zip([0] * 8, *parts)]


def _borne_out(part):
    hit, unclear = part[0], part[7]
    return [min(hit, max(0, 2 * (hit - unclear))), *part[1:]]


class Reading:
    """Sections 12.4 and 12.5: what the posterior says of some work, with both ends of what is not known."""

    def __init__(self, judgment, work):
        self.work = work
        self.part = work.part
        self.lacks = lacking(judgment.rules, work.part)
        rate = judgment.error_rate(work.unsealed, work.unsealed)
        self.points = judgment.points(rate)
        self.table = self.points.modes[judgment.mode]
        self.posterior = judgment.grid.weights(self.part)
        self.mean = _mean(self.table, self.posterior)
        self.low_if_clear, self.high = _interval(self.table, self.posterior, judgment.tail)
        self.low, self.least_mean = self.low_if_clear, self.mean
        self.table_at_most = self.table
        least = _borne_out(self.part)
        if least[0] < self.part[0]:
            table = judgment.points(judgment.error_rate(work.unsealed, _borne_out(work.unsealed))).modes[judgment.mode]
            posterior = judgment.grid.weights(least)
            self.low = min(self.low, _interval(table, posterior, judgment.tail)[0])
            self.least_mean = min(self.mean, _mean(table, posterior))
        if lacking(judgment.rules, work.unsealed)[1] > 0:
            self.table_at_most = judgment.points(judgment.rules["error_rate"]["most"]).modes[judgment.mode]
            self.high = _interval(self.table_at_most, self.posterior, judgment.tail)[1]


class Judgment:
    """What section 12 says of some known cases in one mode."""

    def __init__(self, document, known, mode):
        self.document = document
        self.known = known
        self.rules = document["discrimination"]
        self.minimum = document["thresholds"]["min_jis"]
        self.tail = (1 - document["uncertainty"]["level"]) / 2
        self.grid = _grid_of(json.dumps(self.rules, sort_keys=True))
        self.mode = mode
        self.all = Reading(self, Work(known["n"], known["p"], sealed_of(known, "all")))
        self.dimensions = {
            name: to_dimension(_mean(table, self.all.posterior) / 100)
            for name, table in self.all.points.dimensions.items()
        }
        self.verdict = self._worst()
        rows = document["dimensions"]
        computed = [name for name in self.dimensions if mode == "full" or "lite_weight" in rows[name]]
        self.prior_dimensions = computed if self.all.lacks[0] > 0 else []

    def points(self, rate):
        return _points_of(json.dumps(_read_of(self.document), sort_keys=True), rate)

    def error_rate(self, natural, read):
        rules = self.rules["error_rate"]
        wrong = 0 if lacking(self.rules, natural)[1] > 0 else read[0] + read[1]
        share = (rules["prior"] * rules["weight"] + wrong) / (rules["weight"] + wrong + natural[2] + natural[3])
        stepped = round_to(round_to(share / rules["step"], 0) * rules["step"], 9)
        return clamp(stepped, rules["least"], rules["most"])

    def uncertainty(self, document, jis):
        """Section 12.4."""
        total = _sum([*self.known["n"][:4], *self.known["p"][:4]])
        return {
            "level": document["uncertainty"]["level"],
            "low": min(self.all.low, math.floor(jis * 10) / 10),
            "high": max(self.all.high, math.ceil(jis * 10) / 10),
            "effective_n": round_to(total, 1),
        }

    def _needed(self, reading):
        away = abs(reading.mean - self.minimum)
        if away == 0:
            return None
        ratio = (reading.high - reading.low_if_clear) / 2 / away
        kind = 0 if self._is_mostly_of_wrong_advice(reading) else 1
        known = reading.part[2 * kind] + reading.part[2 * kind + 1]
        count = math.ceil(max(1, known * (ratio * ratio - 1)))
        return None if count > _MOST_NEEDED else (count, None) if kind == 0 else (None, count)

    def _is_mostly_of_wrong_advice(self, reading):
        table, (weights, whole) = reading.table, reading.posterior
        size, between, squares = self.grid.size, 0, 0
        for row in range(size):
            weight = total = 0
            for cell in range(row * size, (row + 1) * size):
                weight = weight + weights[cell]
                total = total + weights[cell] * table[cell]
                squares = squares + weights[cell] * (table[cell] * table[cell])
            if weight > 0:
                between = between + total * (total / weight)
        mean = reading.mean
        return 2 * (between / whole - mean * mean) >= squares / whole - mean * mean

    def _best(self, reading):
        table, (weights, whole) = reading.table_at_most, reading.posterior
        size, total = self.grid.size, 0
        for column in range(size):
            total = total + _sum(weights[row * size + column] for row in range(size)) / whole
            if total >= self.tail:
                return table[(size - 1) * size + column]
        return table[-1]

    def _is_below(self, reading):
        return reading.high < self.minimum and (reading.lacks[0] == 0 or self._best(reading) < self.minimum)

    def _on_all(self):
        reading = self.all
        (wrong, right), said = reading.lacks, _sayer("all", reading)
        if self._is_below(reading):
            return said("non_compliant")
        if wrong > 0:
            return said("undetermined", "too_few_wrong_cases", (wrong, None))
        if right > 0:
            return said("undetermined", "too_few_right_cases", (None, right))
        return said(*(self._doubt(reading) or ("compliant",)))

    def _doubt(self, reading):
        wrong, _ = lacking(self.rules, reading.work.natural)
        if reading.low_if_clear < self.minimum:
            return "undetermined", "interval_spans_minimum", self._needed(reading)
        if reading.low < self.minimum:
            return "undetermined", "modifications_unclear"
        if wrong > 0:
            return "undetermined", "too_few_natural_wrong_cases", (wrong, None)
        return None

    def _natural(self, reading):
        work = reading.work
        if work.planted[4] + work.sealed[4] == 0 or lacking(self.rules, work.unsealed)[0] > 0:
            return None
        return Reading(self, Work(work.unsealed))

    def _on_natural(self):
        reading = self._natural(self.all)
        if reading is None or reading.least_mean >= self.minimum:
            return None
        said = _sayer("natural", reading)
        if reading.mean >= self.minimum:
            return said("undetermined", "modifications_unclear")
        if reading.high < self.minimum:
            return said("undetermined", "natural_cases_below_minimum")
        return said("undetermined", "interval_spans_minimum", self._needed(reading))

    def _often(self, name):
        rules = self.rules["unmeasured"]
        return rules["grave_decisions" if name in ("high_stakes", "critical") else "domain_decisions"]

    def _part_to_judge(self, name, work):
        part, is_often = work.part, work.part[6] >= self._often(name)
        if name in ("high_stakes", "critical"):
            is_judged = part[4] + part[5] + part[6] > 0
        else:
            is_judged = is_often or lacking(self.rules, part)[0] == 0 or part[3] > part[2]
        return (name, work, is_often) if is_judged else None

    def _together(self, domains):
        works = [work for _, work in domains]
        work = Work(*(_sum_of(getattr(one, kind) for one in works) for kind in ("natural", "planted", "sealed")))
        today = self.known["t"]
        decisions = sum(
            one.part[6]
            for name, one in domains
            if today is None or today - self.known["u"].get(name, today) <= self.rules["half_life_days"]
        )
        is_often = decisions >= self._often("other_domains")
        part = work.part
        is_judged = is_often or lacking(self.rules, part)[0] == 0 or part[3] > part[2]
        return ("other_domains", work, is_often) if is_judged else None

    def _on_part(self, name, work, is_often):
        reading = Reading(self, work)
        (wrong, right), said = reading.lacks, _sayer(name, reading)
        if self._is_below(reading):
            return said("non_compliant")
        if wrong > 0:
            if not is_often and work.part[1] - work.part[0] < 0.5:
                return None
            return said("undetermined", "part_not_measured", (wrong, None))
        if right > 0:
            return said("undetermined", "part_not_measured", (None, right))
        doubt = self._doubt(reading)
        if doubt is not None:
            return said(*doubt)
        natural = self._natural(reading)
        if natural is None or natural.least_mean >= self.minimum:
            return None
        return said("undetermined", "natural_cases_below_minimum")

    def _on_parts(self):
        def said(part):
            return part and self._on_part(*part)

        domains = [name for name in DOMAINS if name in self.known["d"]]
        small, doubtful = [], []
        for name in ("high_stakes", "critical", *(domains if len(domains) > 1 else [])):
            work = Work(*as_of_today(self.document, self.known, name))
            today = said(self._part_to_judge(name, work))
            latest = said(self._part_to_judge(name, Work(*as_of_latest(self.known, name))))
            is_small = lacking(self.rules, work.part)[0] > 0
            if name in domains:
                small += [(name, work)] if is_small else []
                doubtful += [(name, work)] if is_small or today is not None else []
            yield latest if _rank(latest) < _rank(today) else today
        yield said(self._together(small))
        together = said(self._together(doubtful))
        yield together if together is not None and together["status"] == "non_compliant" else None

    def _worst(self):
        verdict = self._on_all()
        for other in (self._on_natural(), *self._on_parts()):
            if _rank(other) > _rank(verdict):
                verdict = other
        return verdict


def _rank(verdict):
    return 0 if verdict is None else _STATUSES.index(verdict["status"])


def _sayer(name, reading):
    """Makes verdicts on a part."""

    def said(status, doubt=None, needed=None):
        return _verdict(status, name, (reading.low, reading.high), reading.part, doubt, needed)

    return said


def _verdict(status, name, interval, part, doubt, needed):
    wrong_needed, right_needed = needed or (None, None)
    return {
        "status": status,
        "part": name,
        "low": interval[0],
        "high": interval[1],
        "wrong_cases": part[4],
        "right_cases": part[5],
        "doubt": doubt,
        "wrong_cases_needed": wrong_needed,
        "right_cases_needed": right_needed,
    }


def _read_of(document):
    """The members of a document that its tables of points depend on."""
    return {name: document[name] for name in ("dimensions", "discrimination", "thresholds")}


@lru_cache(maxsize=16)
def _grid_of(rules):
    return Grid(json.loads(rules))


@lru_cache(maxsize=64)
def _points_of(read, error_rate):
    document = json.loads(read)
    return Points(document, _grid_of(json.dumps(document["discrimination"], sort_keys=True)), error_rate)


_judged = {}


def judge(document, known, mode):
    """The judgment of some known cases; a score asks for the same one several times."""
    key = (json.dumps([known, document["uncertainty"], _read_of(document)], sort_keys=True), mode)
    if key not in _judged:
        _judged.clear()
        _judged[key] = Judgment(document, known, mode)
    return _judged[key]
