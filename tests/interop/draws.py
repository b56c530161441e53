"""What a day's seed decides, docs/verify/evidence-format.md section 11: the draw of a case, and the operator's share."""
import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import date
from typing import List, Optional, Set

from canonical import canonical_bytes
from tree import sha256

_STEPS = 2**48
_WINDOW_DAYS = 90
_DAYS_OF_A_CYCLE = 146_097
# Draws up to this hour of a day may have been made on the day before.
_GRACE = "04"


def truth_commitment(opening):
    """The commitment to a probe's truth that this opening belongs to."""
    truth = {name: opening[name] for name in ("ai_correct", "probe_id", "reference")}
    return sha256(b"jis.probe/1\n", bytes.fromhex(opening["salt"]), canonical_bytes(truth)).hex()


def seed_commitment(day, seed):
    """The commitment to a day's seed."""
    return sha256(b"jis.probe-seed/1\n", day.encode(), b"\n", bytes.fromhex(seed)).hex()


def draw_of(seed, operator_id, session_id):
    """`chance` and `place` of a case under a day's seed."""
    message = b"jis.probe-draw/1\n" + canonical_bytes([operator_id, session_id])
    told = hmac.new(bytes.fromhex(seed), message, hashlib.sha256).digest()
    return tuple(int.from_bytes(part, "big") / _STEPS for part in (told[:6], told[6:12]))


def day_number(day):
    """The number of a UTC day such as 2026-11-26, counted without gaps."""
    year, month, of_month = map(int, day.split("-"))
    # The calendar repeats after 400 years; Python's knows neither the year 0 nor 10000.
    cycles, year = divmod(year, 400)
    return cycles * _DAYS_OF_A_CYCLE + date(year + 400, month, of_month).toordinal()


def instant_number(text):
    """The milliseconds of an instant such as 2026-11-26T09:30:00.000Z, counted as days are."""
    hours, minutes, seconds = text[11:13], text[14:16], text[17:23]
    return (day_number(text[:10]) * 1440 + int(hours) * 60 + int(minutes)) * 60_000 + int(seconds.replace(".", ""))


class Decided:
    """How many probes each operator's decisions opened, by day."""

    def __init__(self):
        self.counts = {}

    def count(self, subject, day):
        """Counts one that was opened on this day."""
        days = self.counts.setdefault(subject, {})
        number = day_number(day)
        days[number] = days.get(number, 0) + 1

    def share(self, policy, subject, day):
        """The share of an operator's cases before which a probe is due on this day."""
        number = day_number(day)
        days = self.counts.get(subject, {}).items()
        known = sum(count for at, count in days if number - _WINDOW_DAYS <= at < number)
        rate = policy["rate"]
        return max(rate, policy["highest_share"]) if known < policy["minimum"] else rate


@dataclass
class Draw:
    """A draw as it was recorded; `rank` is the probe's place in the stock, None if it is not known. `is_compared` says
    whether everything was known by which it is held to be right, `seq` is None in a chain that goes on from its own.
    """

    seq: Optional[int]
    probe_id: Optional[str]
    share: float
    stock: int
    rank: Optional[int]
    is_compared: bool
    subject: Optional[str] = None
    case: Optional[tuple] = None


@dataclass
class Score:
    """A score of somebody who may have left a draw out; `case` is its operator and session."""

    seq: Optional[int]
    timestamp: str
    subject: str
    case: tuple


@dataclass
class Day:
    """A day whose seed was committed to; policy and commitment are None if that is not known."""

    day: str
    commitment: Optional[str] = None
    policy: Optional[dict] = None
    is_opened: bool = False
    seed: Optional[str] = None
    draws: List[Draw] = field(default_factory=list)
    # Scores that may have to be drawn for, and the sessions of all scores.
    scores: List[Score] = field(default_factory=list)
    scored: Set[str] = field(default_factory=set)

    def is_right(self, draw, decided):
        """Whether a draw is the one that the seed gives."""
        if draw.is_compared and draw.subject is not None:
            if draw.share != decided.share(self.policy, draw.subject, self.day):
                return False
        if draw.case is None:
            return True
        chance, place = draw_of(self.seed, *draw.case)
        if draw.is_compared and draw.rank is not None and int(place * draw.stock) != draw.rank:
            return False
        return chance < draw.share

    def is_due(self, score, decided):
        """Whether a probe was due before a case."""
        chance, _ = draw_of(self.seed, *score.case)
        return chance < decided.share(self.policy, score.subject, self.day)

    def was_left_out(self, score, decided, before):
        """Whether a case was not drawn for; `before` is the day before, under which an early one may have been."""
        if not self.is_due(score, decided):
            return False
        is_early = score.timestamp[:10] == self.day and score.timestamp[11:13] < _GRACE
        if not is_early or before is None or before.seed is None or before.policy is None:
            return True
        is_next = day_number(before.day) + 1 == day_number(self.day)
        return not is_next or before.is_due(score, decided)
