"""Follows the probes of one chain, docs/verify/evidence-format.md section 11, "Probes".

What is known of each probe, of the day whose seed is not opened, and of operators' decided probes is carried on into
the chain that goes on from this one, together with the names of records.
"""
import copy
from dataclasses import dataclass
from typing import Optional

from draws import Day, Decided, Draw, Score, day_number, instant_number, seed_commitment, truth_commitment
from shapes import PROBES

_ACTORS = ("api", "user", "system")
_SCORES_OF_A_DAY = 262_144
_CLOSING = {"PROBE_OPENED", "PROBE_RECALLED", "PROBE_LOST"}
# Cases that are planted, or announced, themselves.
_UNDRAWN_SCENARIOS = ("error_injected", "calibration")
_UNKNOWN = object()
# Milliseconds from the beginning of a day in which a draw of it may come onto the chain.
_LATE = 25 * 3_600_000


@dataclass
class Probe:
    """A probe; `stratum` and `commitment` are None if it was not seen to be sealed."""

    probe_id: str
    stratum: Optional[tuple] = None
    commitment: Optional[str] = None
    is_drawn: bool = False
    is_closed: bool = False
    # Whether a restore ended it: it can only be recalled.
    is_ended: bool = False
    # The seq of its draw.
    drawn_at: Optional[int] = None
    # For whom it was drawn, and the content of its assignment, as far as they are given.
    subject: Optional[str] = None
    assignment: Optional[dict] = None

    @property
    def expires_at(self):
        """Until when it can be decided, if that is known."""
        return None if self.assignment is None else self.assignment["expires_at"]


class Memory:
    """What a chain that goes on from this one takes over."""

    def __init__(self):
        self.policy = None
        self.probes = {}
        # The probes of each stratum that can be drawn, in the order of their seals.
        self.stocks = {}
        self.assigned = set()
        self.decided = Decided()
        self.day = self.day_before = None
        # Events whose content is not given.
        self.hidden = set()
        # Whether everything is known from the beginning of the chain's family on.
        self.is_whole = False

    def inherited(self):
        """The same for the next chain, in which no seq of this one means anything."""
        own = copy.deepcopy(self)
        own.policy = _UNKNOWN if self.policy is _UNKNOWN else own.policy
        for probe in own.probes.values():
            probe.is_ended = True
        own.stocks = {}
        for one in [] if own.day is None else [*own.day.draws, *own.day.scores]:
            one.seq = None
        return own

    def stock(self, stratum):
        """The probes of a stratum that can be drawn."""
        return self.stocks.setdefault(stratum, {})


@dataclass
class Step:
    """The entry before: what must follow it, what of it the next one is held against."""

    seq: int
    event_type: str
    subject: Optional[str] = None
    # What a score's input says, if it is given; a draw that is given.
    interaction: Optional[dict] = None
    session: Optional[str] = None
    operator: Optional[str] = None
    domain: Optional[str] = None
    draw: Optional[Draw] = None
    is_draw: bool = False

    def must_precede(self, event_type):
        """Whether the next entry must be such a one."""
        if event_type == "PROBE_ASSIGNED":
            return self.is_draw
        is_probe = self.interaction is not None and self.interaction.get("sealed_probe") is True
        return event_type == "PROBE_OPENED" and is_probe


class Probes:
    """The probes of one chain."""

    def __init__(self, name, base_size, findings):
        self.findings = findings
        self.is_off_track = not name.family.startswith("org/") or name.is_admin
        self.memory = Memory()
        self.memory.is_whole = name.epoch == 1 and base_size == 0
        # None at the first entry: what came before it is not known.
        self.before = None
        self.mismatches = set()
        self.uncompared = None
        self.has_left_out = False
        # Entries by which the organization can have chosen among draws; cases drawn for and not scored: their draws.
        self.selected = []
        self.cases = {}
        self.hides_sessions = False

    def lose_track(self):
        """Notes that entries are missing or altered: nothing more is said."""
        self.is_off_track = True

    def inherit(self, earlier):
        """Takes over what is known of the chain that this one continues."""
        self.memory = earlier.memory.inherited()

    def settle(self):
        """Ends the bundle."""
        if not self.is_off_track:
            self._check_next(None)
            self._pass_over_unopened()
            self._report_selection()
        if self.uncompared is not None:
            self.findings.add("PROBE_UNCOMPARED", self.uncompared[0])

    def _report_selection(self):
        """Tells of choices among draws, and of cases that were not scored within seven days."""
        day = self.memory.day
        for seq, drawn_on, probe_id, _ in [] if day is None or self.hides_sessions else self.cases.values():
            if probe_id is not None and day_number(drawn_on) + 7 <= day_number(day.day):
                self.selected.append(seq)
        if self.selected:
            self.findings.add("PROBE_SELECTION", min(self.selected))

    def _pass_over_unopened(self):
        """Notes draws of this chain whose seed is not opened."""
        day = self.memory.day
        own = [] if day is None or day.is_opened else [draw.seq for draw in day.draws if draw.seq is not None]
        if own:
            self._pass_over(own[0])

    def _pass_over(self, seq):
        """Notes that something cannot be compared; the first place is told."""
        if self.uncompared is None:
            self.uncompared = (seq,)

    def _mismatch(self, seq):
        if seq not in self.mismatches:
            self.mismatches.add(seq)
            self.findings.add("PROBE_MISMATCH", seq)

    # ---- entries ------------------------------------------------------------------------------------------

    def take(self, entry, parts, erased):
        """Takes an entry with those of its parts that are given, and the names of those that were erased."""
        if self.is_off_track:
            return
        event_type = entry["event_type"]
        is_told = event_type in PROBES and entry["actor"] in _ACTORS
        self._check_next(event_type if is_told else "")
        step = Step(entry["seq"], event_type, entry["subject"])
        if event_type == "SCORE_COMPUTED":
            self._take_score(entry, parts, erased, step)
        elif is_told:
            step.is_draw = event_type == "PROBE_DRAWN"
            self._take_event(entry, parts, erased, step)
        self.before = step

    def _check_next(self, event_type):
        """Checks that this event, None at the end, is the one that the entry before must be followed by."""
        before = self.before
        for needed in ("PROBE_ASSIGNED", "PROBE_OPENED"):
            if before is not None and before.must_precede(needed) and event_type != needed:
                self._mismatch(before.seq)

    def _take_event(self, entry, parts, erased, step):
        event_type, seq = entry["event_type"], entry["seq"]
        name = "input" if event_type == "PROBE_ASSIGNED" else "detail"
        if not self.memory.is_whole:
            self._pass_over(seq)
        is_formed = entry["commit"].keys() == {name} and (entry["subject"] is None) == (name == "detail")
        if not is_formed or (name in parts and not PROBES[event_type](parts[name])):
            self.findings.add("RECORD_MALFORMED", seq)
            self._lose_content(event_type)
            return
        content = parts.get(name)
        handler = getattr(self, "_take_" + event_type[len("PROBE_") :].lower())
        if content is not None:
            if not handler(entry, content, step):
                self._mismatch(seq)
        elif event_type == "PROBE_ASSIGNED" and name in erased:
            self._take_erased(entry)
        else:
            self._pass_over(seq)
            self._lose_content(event_type)

    def _lose_content(self, event_type):
        """Notes that an event's content is not known, and with it all that it may have said."""
        memory = self.memory
        memory.is_whole = False
        memory.hidden.add(event_type)
        if event_type == "PROBE_POLICY_CHANGED":
            memory.policy = _UNKNOWN
        if event_type == "PROBE_SEED_COMMITTED":
            memory.day_before = memory.day = None
        if event_type == "PROBE_SEED_OPENED" and memory.day is not None:
            memory.day.is_opened = True

    # ---- policies and seeds: each says whether the event is right -------------------------------------------

    def _take_policy_changed(self, _entry, policy, _step):
        self.memory.policy = policy
        return True

    def _take_seed_committed(self, _entry, content, _step):
        memory, day = self.memory, self.memory.day
        holds = day is None or (day.is_opened and day.day < content["day"])
        if memory.policy is not _UNKNOWN and (memory.is_whole or memory.policy is not None):
            holds = holds and memory.policy == content["policy"]
        self._pass_over_unopened()
        memory.day_before = day
        memory.day = Day(content["day"], content["commitment"], content["policy"])
        return holds

    def _day_of(self, content):
        """The day that an event names, if it is the one whose seed is committed to and not opened."""
        memory = self.memory
        if memory.day is None and not memory.is_whole:
            memory.day = Day(content["day"])
        day = memory.day
        return day if day is not None and not day.is_opened and day.day == content["day"] else None

    def _take_seed_opened(self, entry, content, _step):
        day = self._day_of(content)
        if day is None:
            return False
        self._check_overdue(day)
        day.is_opened = True
        if day.commitment not in (None, seed_commitment(day.day, content["seed"])):
            return False
        day.seed = content["seed"]
        for draw in day.draws:
            if not day.is_right(draw, self.memory.decided):
                self._mismatch(self._own_place(draw.seq, entry))
        self._look_at_scores(entry, day)
        day.draws, day.scores = [], []
        return True

    def _check_overdue(self, day):
        """Checks that each probe whose time ended on this day, or before, was closed."""
        if self.memory.hidden & _CLOSING:
            return
        for probe in self.memory.probes.values():
            is_over = probe.expires_at is not None and probe.expires_at[:10] <= day.day
            if probe.is_drawn and not (probe.is_closed or probe.is_ended) and is_over:
                self._mismatch(probe.drawn_at)

    @staticmethod
    def _own_place(seq, entry):
        """The place of something, or of this entry if it lies in a chain before."""
        return entry["seq"] if seq is None else seq

    def _look_at_scores(self, entry, day):
        memory = self.memory
        for score in [] if self.has_left_out else day.scores:
            is_assigned = score.case[1] in memory.assigned
            if not is_assigned and day.was_left_out(score, memory.decided, memory.day_before):
                self.findings.add("PROBE_LEFT_OUT", self._own_place(score.seq, entry))
                self.has_left_out = True
                return

    # ---- seals and draws ------------------------------------------------------------------------------------

    def _take_sealed(self, _entry, content, _step):
        memory, probe_id = self.memory, content["probe_id"]
        if probe_id in memory.probes:
            return False
        stratum = (content["domain"], content["stakes"])
        memory.probes[probe_id] = Probe(probe_id, stratum, content["commitment"])
        memory.stock(stratum)[probe_id] = None
        return True

    def _take_drawn(self, entry, content, step):
        memory, probe_id = self.memory, content["probe_id"]
        day = self._day_of(content)
        stratum = (content["domain"], content["stakes"])
        stock = list(memory.stock(stratum))
        rank = stock.index(probe_id) if probe_id in stock else None
        holds = day is not None
        if memory.is_whole:
            holds = holds and content["stock"] == len(stock) and (probe_id is not None or stock == [])
        if probe_id is not None:
            holds = self._draw_probe(entry["seq"], probe_id, stratum) and holds
        if instant_number(entry["timestamp"]) >= day_number(content["day"]) * 86_400_000 + _LATE:
            holds = False
        self.drawn_for = (entry["seq"], content["day"], probe_id, stratum)
        told = (entry["seq"], probe_id, content["share"], content["stock"], rank)
        step.draw = Draw(*told, is_compared=memory.is_whole)
        if day is not None:
            day.draws.append(step.draw)
        return holds

    def _draw_probe(self, seq, probe_id, stratum):
        """Draws a probe; its stratum is None if the draw does not give it. False if it could not be drawn."""
        probe = self._probe(probe_id)
        if probe is None:
            return False
        holds = not (probe.is_drawn or probe.is_closed or probe.is_ended)
        holds = holds and (None in (probe.stratum, stratum) or probe.stratum == stratum)
        probe.stratum = probe.stratum or stratum
        probe.is_drawn, probe.drawn_at = True, seq
        probe.assignment = None
        self.memory.stock(probe.stratum).pop(probe_id, None)
        return holds

    def _probe(self, probe_id):
        """What is known of a probe; None if it is known that nobody sealed it."""
        memory = self.memory
        if probe_id not in memory.probes and not memory.is_whole:
            memory.probes[probe_id] = Probe(probe_id)
        return memory.probes.get(probe_id)

    def _take_assigned(self, entry, content, _step):
        memory, before, session = self.memory, self.before, content["session_id"]
        holds = session not in memory.assigned and (memory.day is None or session not in memory.day.scored)
        holds = holds and (content["probe_id"] is None) == (content["probe_session_id"] is None)
        holds = holds and self._is_in_time(entry["timestamp"], content["expires_at"])
        memory.assigned.add(session)
        if before is None:
            return holds
        return before.is_draw and self._join(before, entry, content) and holds

    def _is_in_time(self, timestamp, expires_at):
        """Whether a probe is given no more time than the policy of its day allows."""
        day = self.memory.day
        if expires_at is None or day is None or day.policy is None:
            return True
        return instant_number(expires_at) <= instant_number(timestamp) + day.policy["ticket_minutes"] * 60_000

    def _join(self, before, entry, content):
        """Joins an assignment to its draw; False if it is of another probe."""
        draw, probe_id = before.draw, content["probe_id"]
        if draw is None:
            # The draw's own content is not given.
            holds = probe_id is None or self._draw_probe(before.seq, probe_id, None)
        else:
            draw.subject, draw.case = entry["subject"], (content["operator_id"], content["session_id"])
            seq, day, _, stratum = self.drawn_for
            self.cases[content["session_id"]] = (seq, day, probe_id, stratum)
            holds = draw.probe_id == probe_id
        if holds and probe_id in self.memory.probes:
            self.memory.probes[probe_id].assignment = content
            self.memory.probes[probe_id].subject = entry["subject"]
        return holds

    def _take_erased(self, entry):
        """Takes the assignment of an erased operator: what the draw gives is not known, but whose share it was."""
        if self.before is None:
            return
        if not self.before.is_draw:
            self._mismatch(entry["seq"])
        elif self.before.draw is not None:
            self.before.draw.subject = entry["subject"]
            probe = self.memory.probes.get(self.before.draw.probe_id)
            if probe is not None:
                probe.subject = entry["subject"]

    # ---- ends -----------------------------------------------------------------------------------------------

    def _close(self, opening, is_shown):
        """Closes a probe, which was shown if `is_shown`: the probe, and whether that could be done."""
        memory, probe = self.memory, self._probe(opening["probe_id"])
        if probe is None:
            return None, False
        # One that was not seen to be sealed may have been drawn unseen, too.
        may_be_drawn = probe.is_drawn or probe.commitment is None or "PROBE_DRAWN" in memory.hidden
        holds = not probe.is_closed and (not is_shown or (may_be_drawn and not probe.is_ended))
        holds = holds and probe.commitment in (None, truth_commitment(opening))
        probe.is_closed = True
        memory.stock(probe.stratum).pop(probe.probe_id, None)
        return probe, holds

    def _take_opened(self, entry, opening, _step):
        before, day = self.before, entry["timestamp"][:10]
        shown = self._probe(opening["probe_id"])
        if shown is not None and shown.is_drawn and not shown.is_closed and not shown.is_ended:
            self.selected.append(entry["seq"])
        probe, holds = self._close(opening, is_shown=True)
        if before is None:
            return holds
        if before.event_type != "SCORE_COMPUTED":
            return False
        self.memory.decided.count(before.subject, day)
        if probe is not None and probe.subject not in (None, before.subject):
            return False
        return holds and (before.interaction is None or self._is_of(before, probe, opening, entry["timestamp"]))

    @staticmethod
    def _is_of(score, probe, opening, timestamp):
        """Whether a score whose input is given is that of the probe."""
        told = score.interaction
        holds = told.get("sealed_probe") is True and told.get("ai_correct") is opening["ai_correct"]
        holds = holds and (probe.stratum is None or (score.domain, told.get("scenario_type")) == probe.stratum)
        if probe.assignment is None:
            return holds
        holds = holds and score.session == probe.assignment["probe_session_id"]
        holds = holds and score.operator == probe.assignment["operator_id"]
        return holds and probe.expires_at is not None and timestamp <= probe.expires_at

    def _take_recalled(self, entry, opening, _step):
        probe = self._probe(opening["probe_id"])
        if probe is not None and probe.is_drawn and not probe.is_closed and not probe.is_ended:
            if opening["reason"] != "erasure" or probe.assignment is not None or probe.subject is None:
                self.selected.append(entry["seq"])
        return self._close(opening, is_shown=False)[1]

    def _take_lost(self, entry, opening, _step):
        probe, holds = self._close(opening, is_shown=True)
        return holds and (probe.expires_at is None or probe.expires_at <= entry["timestamp"])

    # ---- scores ---------------------------------------------------------------------------------------------

    def _take_score(self, entry, parts, erased, step):
        """Takes a score; what its parts do not give of it is not looked at."""
        given = parts.get("input")
        named = given if isinstance(given, dict) else parts.get("result")
        session = named.get("session_id") if isinstance(named, dict) else None
        step.session = session if isinstance(session, str) else None
        drawn_for = self.cases.pop(step.session, None)
        if step.session is None and "input" not in erased:
            self.hides_sessions = True
        interaction = given.get("interaction") if isinstance(given, dict) else None
        step.interaction = interaction if isinstance(interaction, dict) else None
        if step.interaction is not None:
            step.operator, step.domain = given.get("operator_id"), given.get("domain")
            if drawn_for is not None and drawn_for[3] != (step.domain, step.interaction.get("scenario_type")):
                self.selected.append(entry["seq"])
        day = self.memory.day
        if day is None or day.is_opened or step.session is None:
            return
        day.scored.add(step.session)
        operator = step.operator
        if not isinstance(operator, str) or not self._may_be_left_out(step.interaction):
            return
        if entry["subject"] is not None and len(day.scores) < _SCORES_OF_A_DAY:
            case = (operator, step.session)
            day.scores.append(Score(entry["seq"], entry["timestamp"], entry["subject"], case))

    def _may_be_left_out(self, interaction):
        policy = self.memory.policy
        is_on = self.memory.is_whole and policy is not None and policy["enabled"]
        is_shown = interaction.get("ai_available") is True and interaction.get("ai_recommendation_presented") is True
        is_drawn = interaction.get("sealed_probe") is True or interaction.get("scenario_type") in _UNDRAWN_SCENARIOS
        return is_on and is_shown and not is_drawn
