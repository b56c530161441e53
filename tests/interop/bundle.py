"""Verifies one bundle, line by line, docs/verify/evidence-format.md section 9.

It keeps the chain's last hash and time, the peaks of the tree, keys, model documents, and of each subject 32 bytes; what
is compared with other bundles of the same input (restores, erasures, removals) is settled when the input has ended.
"""
import hashlib

from canonical import Refused, canonical_bytes
from erasures import is_erasure
from findings import CONTRADICTIONS, NOT_COMPARED, Findings, first_bad
from kept import KeptOfChain
from lines import LONGEST_LINE
from notes import Malformed, Pin, parse_certificate, parse_checkpoint, parse_vkey
from probes import Probes
from repeats import Repeats
from shapes import BEGINNING, CHECKPOINT, ENTRY, HEADER, LADDER, MODEL, PART, TRAILER, whole
from states import States
from structure import ChainName, Cut, Structure
from tree import Tree, entry_hash, genesis_previous, part_commitment, root_above
from trust import Trust

LONGEST_ENTRY = 4096


class Bundle:
    """One bundle; `line` takes a line, `end` ends the bundle, `settle` ends the input."""

    def __init__(self, inputs):
        self.inputs = inputs
        self.findings = Findings()
        self.digest = hashlib.sha256()
        self.newest = None
        self.name = ChainName(None)
        self.chain = None
        # Reading: `stage` is 1 among models, 2 among ladder lines, 2.5 after a beginning, 3 among entries.
        self.has_header = self.is_closed = self.is_stopped = False
        self.stage = 0
        self.ladder_end = 0
        # The entry whose parts are being read.
        self.entry = None
        self.leaf = None
        self.is_in_step = False
        self.parts = {}
        self.parts_erased = set()
        self.parts_due = []
        self.parts_passed = []
        self.skips_parts = False
        self.unread_entries = 0
        self.withheld = self.erased = 0
        # Whether a line ends in a carriage return: the file is a copy with other line ends.
        self.has_foreign_ends = False
        # Whether something that the auditor kept was not compared.
        self.is_open = False
        # The chain so far.
        self.base_size = self.next_seq = 0
        self.base_root = None
        self.head = None
        self.last_timestamp = ""
        self.gaps = []
        self.tree = Tree()
        self.tree_is_sound = True
        # The sizes that were signed; the last is None if it is not known.
        self.good_sizes = []
        self.signed_size = 0

    # ---- lines --------------------------------------------------------------------------------------------

    def line(self, raw, value, is_canonical):
        """Takes a line without its line feed, and what `read_line` made of it."""
        if self.is_stopped:
            return
        self.has_foreign_ends = self.has_foreign_ends or raw.endswith(b"\r")
        if value is not None and not is_canonical:
            self.findings.add("NON_CANONICAL_LINE", self._place_of(value))
        try:
            is_taken = isinstance(value, dict) and self._take(value, raw)
        except Refused:  # A string in it is not well-formed.
            is_taken = False
        if not is_taken:
            self.findings.add("MALFORMED_LINE", self._place_of(value))
            self.is_stopped = not self.has_header
            self._pass_over(value)
        self.digest.update(raw if len(raw) > LONGEST_LINE else raw + b"\n")

    def _take(self, value, raw):
        """False if the line is malformed or out of place; the caller reports it."""
        if "kind" not in value:
            return self.has_header and self._take_entry(value, raw)
        takers = {
            "jis.model/1": self._take_model,
            "jis.ladder/1": self._take_ladder,
            "jis.beginning/1": self._take_beginning,
            "jis.part/1": self._take_part,
            "jis.checkpoint/1": self._take_checkpoint,
            "jis.trailer/1": self._take_trailer,
        }
        kind = value["kind"]
        if not self.has_header:
            return self._take_header(value)
        return isinstance(kind, str) and kind in takers and takers[kind](value)

    def _place_of(self, value):
        """The seq of the entry that a line belongs to, None if it belongs to none."""
        if not isinstance(value, dict):
            if self.stage < 3:
                return None
            return self.entry["seq"] if self.parts_due else self.next_seq
        if value.get("kind", "jis.part/1") == "jis.part/1" and whole()(value.get("seq")):
            return value["seq"]
        return None

    def _pass_over(self, value):
        """Reports nothing more as missing that the malformed line may have been."""
        is_unread = not isinstance(value, dict)
        if self.stage == 3 and ("kind" not in value if not is_unread else not self.parts_due):
            self._lose_entry()
        elif is_unread or value.get("kind") == "jis.part/1":
            self.skips_parts = True

    def _lose_entry(self):
        """Skips the parts of an entry that could not be read, and what depends on it."""
        self._close_entry()
        self.unread_entries += 1
        self.skips_parts = True
        self._lose_track()

    def _stop(self):
        """Stops at an unknown version: nothing that follows is reported as missing."""
        self.findings.add("UNSUPPORTED_VERSION")
        self.is_stopped = True
        return True

    # ---- header, models, ladder ---------------------------------------------------------------------------

    def _take_header(self, value):
        if value["kind"] != "jis.bundle/1" and str(value["kind"]).startswith("jis.bundle/"):
            return self._stop()
        if not HEADER(value):
            return False
        self.has_header = True
        self.chain = value["chain"]
        self.name = name = ChainName.of(value["origin"], self.chain)
        if name.family == "":
            self.findings.add("WRONG_ORIGIN")
        self.is_self_trusted = self.inputs.pins is None
        self.trust = Trust(self.inputs.pins if self.inputs.pins is not None else pins_of(value), name, self.inputs.joins)
        for key in value["keys"]:
            self._take_certificate(key["cert"])
        self.structure = Structure(self)
        self.states = States(name, value["base"]["size"], self.findings)
        self.repeats = Repeats(self.findings)
        self.probes = Probes(name, value["base"]["size"], self.findings)
        self.erasures = self.inputs.erasures_of(name.prefix + name.family)
        self.kept = KeptOfChain(self.inputs.kept_of(name.origin), self.inputs.entries_of(name.origin))
        self._take_base(value["base"])
        return True

    def _take_certificate(self, source):
        try:
            if source is not None:
                self.trust.add_certificate(parse_certificate(source))
        except Malformed:
            pass  # A candidate that does not verify makes nothing trusted.

    def _take_base(self, base):
        size = self.base_size = self.next_seq = self.signed_size = base["size"]
        self.last_note = (size, base["checkpoint"])
        self.head = bytes.fromhex(base["prev"])
        if size == 0:
            expected = genesis_previous(self.name.origin)
            if self.head != expected:
                self.findings.add("GENESIS_MISMATCH", 0)
                self.head = expected
            return
        self.tree = Tree(size, map(bytes.fromhex, base["peaks"]))
        self.tree_is_sound = len(base["peaks"]) == bin(size).count("1")
        try:
            checkpoint = parse_checkpoint(base["checkpoint"] or "")
        except Malformed:
            return
        is_folded = self.tree_is_sound and checkpoint.size == size and checkpoint.root == self.tree.root()
        if is_folded and self.trust.judge(checkpoint) is None:
            self.base_root = checkpoint.root
            self.good_sizes.append(size)
            self.kept.see_root(size, checkpoint.root)

    def _take_model(self, value):
        if self.stage > 1 or not MODEL(value):
            return False
        self.stage = 1
        return self.states.add_document(value["sha256"], value["document"])

    def _take_ladder(self, value):
        if self.stage > 2 or not LADDER(value):
            return False
        first, last = value["from"], value["to"]
        if not self.ladder_end <= first < last <= self.base_size:
            return False
        self.stage, self.ladder_end = 2, last
        self.kept.climb(first, last, [bytes.fromhex(one) for one in value["proof"]])
        return True

    def _take_beginning(self, value):
        """Takes the first entry of a later epoch with a removed prefix; it names the end of the chain before."""
        if self.stage > 2 or self.base_size == 0 or self.name.epoch == 1 or not BEGINNING(value):
            return False
        self.stage = 2.5
        entry = value["entry"]
        if not ENTRY(entry) or entry["seq"] != 0:
            return False
        leaf = entry_hash(canonical_bytes(entry))
        self._check_owner(entry)
        self.kept.see_entry(0, leaf, self.findings)
        root = root_above(leaf, 0, self.base_size, [bytes.fromhex(one) for one in value["path"]])
        is_first = entry["prev"] == genesis_previous(self.name.origin).hex()
        if not is_first or self.base_root not in (None, root):
            self.findings.add("GENESIS_MISMATCH", 0)
            return True
        for name in entry["commit"]:
            if name != "detail":
                self.findings.add("PART_MISSING", 0)
        parts = {}
        if "detail" in entry["commit"]:
            if _commitment_of(value, "detail") == entry["commit"]["detail"]:
                parts["detail"] = value["data"]
            else:
                self.findings.add("COMMITMENT_MISMATCH", 0)
        self.structure.take_beginning(entry, parts)
        return True

    # ---- entries ------------------------------------------------------------------------------------------

    def _check_owner(self, value):
        # `sys` is nobody's; any other family is named after its organization.
        owner = (self.name.family.split("/") + [None])[1]
        if value["chain"] != self.chain or value["org_id"] != owner:
            self.findings.add("WRONG_CHAIN", value["seq"])

    def _take_entry(self, value, raw):
        self.stage = 3
        if isinstance(value.get("v"), str) and value["v"] not in ("jis.audit/1", "jis.audit/2"):
            self._close_entry()
            return self._stop()
        if len(raw) > LONGEST_ENTRY or not ENTRY(value):
            return False
        seq = value["seq"]
        self._close_entry(seq)
        self.entry, self.leaf = value, entry_hash(raw)
        self.parts, self.parts_due, self.parts_passed = {}, sorted(value["commit"]), []
        self.parts_erased = set()
        self.skips_parts = False
        self._check_owner(value)
        self.is_in_step = self._place(seq)
        self.unread_entries = 0
        if self.is_in_step:
            self._check_link(value)
            self._append(value)
        else:
            self._lose_records()
        return True

    def _place(self, seq):
        """Whether the entry is the next in line, after a gap or not."""
        if seq == self.next_seq:
            if self.unread_entries > 0:
                self.unread_entries = 0
            return True
        if seq > self.next_seq:
            if seq - self.next_seq > self.unread_entries:
                self.gaps.append((self.next_seq, seq - 1))
            self._skip_to(seq)
            return True
        for index, (first, last) in enumerate(self.gaps):
            if first <= seq <= last:
                rest = [(first, seq - 1), (seq + 1, last)]
                self.gaps[index : index + 1] = [gap for gap in rest if gap[0] <= gap[1]]
                self.findings.add("REORDERED", seq)
                return False
        if seq < self.base_size:
            self.findings.add("REORDERED", seq)
            self.tree_is_sound = False
            return False
        # A second entry takes a leaf of its own.
        self.findings.add("DUPLICATE_SEQ", seq)
        self.head = self.leaf
        self.tree.append(self.leaf)
        return False

    def _skip_to(self, seq):
        """Skips to this seq: the entries up to it are missing, or could not be read."""
        self.next_seq, self.head, self.tree_is_sound = seq, None, False
        self._lose_track()

    def _lose_track(self):
        self.states.lose_track()
        self._lose_records()

    def _lose_records(self):
        self.repeats.lose_track()
        self.probes.lose_track()

    def _check_link(self, value):
        seq = value["seq"]
        if self.head is not None and value["prev"] != self.head.hex():
            if seq == 0:
                self.findings.add("GENESIS_MISMATCH", 0)
            else:
                self.findings.add("LINK_BROKEN", seq if seq in self.good_sizes[-1:] else seq - 1)
                self._lose_track()
        if value["timestamp"] < self.last_timestamp:
            self.findings.add("CLOCK_ROLLBACK", seq)

    def _append(self, value):
        self.head = self.leaf
        self.next_seq = value["seq"] + 1
        self.last_timestamp = max(self.last_timestamp, value["timestamp"])
        self.kept.see_entry(value["seq"], self.leaf, self.findings)
        if self.tree_is_sound:
            self.tree.append(self.leaf)
            self.kept.see_root(self.next_seq, self.tree.root())

    # ---- parts --------------------------------------------------------------------------------------------

    def _take_part(self, value):
        if not PART(value):
            return False
        if self.entry is None or value["seq"] != self.entry["seq"]:
            return self.skips_parts
        name = value["name"]
        if name not in self.parts_due:
            return False
        index = self.parts_due.index(name)
        self.parts_passed += self.parts_due[:index]
        self.parts_due = self.parts_due[index + 1 :]
        if "data" in value:
            self._take_data(value)
        elif "erased" in value:
            self.erased += 1
            self.parts_erased.add(name)
            self.erasures.need(self.entry["subject"], self.findings, value["seq"])
        elif "pruned" in value:
            self.structure.need_cut(value["seq"])
        else:
            self.withheld += 1
        return True

    def _take_data(self, value):
        name = value["name"]
        if _commitment_of(value, name) == self.entry["commit"][name]:
            self.parts[name] = value["data"]
        else:
            self.findings.add("COMMITMENT_MISMATCH", value["seq"])

    def _close_entry(self, next_seq=None):
        """Ends the entry's parts: all their lines were read, and the next entry has this seq."""
        entry, self.entry = self.entry, None
        if entry is None:
            return
        missing = [*self.parts_passed, *self.parts_due]
        # The parts of the first of two entries of one seq may follow the second.
        is_taken_over = next_seq == entry["seq"] and len(self.parts_due) == len(entry["commit"])
        if missing and not self.skips_parts and not is_taken_over:
            self.findings.add("PART_MISSING", entry["seq"])
        self.parts_due = []
        if is_erasure(entry):
            self.erasures.prove(entry["subject"])
            self.states.forget(entry["subject"])
        if self.is_in_step:
            self.structure.take(entry, self.parts)
            self.repeats.take(entry, self.parts)
            self.probes.take(entry, self.parts, self.parts_erased)
            if self.inputs.replays:
                self.states.take(entry, self.leaf, self.parts)

    # ---- checkpoints --------------------------------------------------------------------------------------

    def _take_checkpoint(self, value):
        if self.stage < 3 or not CHECKPOINT(value):
            return False
        self._close_entry()
        try:
            checkpoint = parse_checkpoint(value["note"])
        except Malformed:
            return False
        self._count_unread_entries(checkpoint.size)
        size = checkpoint.size
        if size < self.next_seq or (size == self.signed_size and size == self.next_seq):
            return False
        self.last_note = (size, value["note"])
        code = self._judge(checkpoint)
        if code is None and size > self.next_seq:
            self.gaps.append((self.next_seq, size - 1))
            self._skip_to(size)
        return True

    def _take_trailer(self, value):
        if not TRAILER(value):
            return False
        self._close_entry()
        self.is_closed = True
        self._count_unread_entries(value["size"])
        if value["bundle_sha256"] != self.digest.hexdigest():
            self.findings.add("BUNDLE_DIGEST_MISMATCH")
        if value["size"] != self.next_seq:
            self.findings.add("TRAILER_SIZE_MISMATCH", self.next_seq)
        try:
            checkpoint = parse_checkpoint(value["checkpoint"])
        except Malformed:
            self.signed_size = None
            return False
        self._judge(checkpoint)
        # No digest covers this line: its checkpoint is the very note of the line of its size before it.
        size, note = self.last_note
        return size != checkpoint.size or note == value["checkpoint"]

    def _count_unread_entries(self, size):
        """Counts unreadable lines before this size as its last entries."""
        if 0 < size - self.next_seq <= self.unread_entries:
            self._skip_to(size)
            self.unread_entries = 0

    def _judge(self, checkpoint):
        """Checks signatures and root of a checkpoint at this place; a finding's code, or None."""
        size, code = checkpoint.size, self.trust.judge(checkpoint)
        if code == "WRONG_ORIGIN":
            # Nothing else of it is used: the size that the trailer would have signed is not known.
            self.signed_size = None if self.is_closed else self.signed_size
        else:
            self.signed_size = max(self.signed_size, size)
        if code is not None:
            self.findings.add(code, size - 1)
        elif self.tree_is_sound and size == self.next_seq:
            if checkpoint.root == self.tree.root():
                self.good_sizes.append(size)
                self.newest = (size, checkpoint.root)
            elif not self.findings.has("ROOT_MISMATCH"):
                first = self.good_sizes[-1] if self.good_sizes else self.base_size
                self.findings.add("ROOT_MISMATCH", span=(min(first, size - 1), size - 1))
                self._lose_records()
        return code

    # ---- the end of the bundle ----------------------------------------------------------------------------

    def end(self):
        """Ends the bundle."""
        if not self.has_header:
            return
        self._close_entry()
        for first, last in self.gaps:
            self.findings.add("MISSING", first, (first, last))
        if self.is_stopped:
            self.erasures.give_up()
            return
        self._check_end()
        if self.gaps or self.findings.has("TRUNCATED"):
            self.erasures.give_up()
            self.probes.lose_track()
        self.structure.settle()
        self.states.settle()
        self.probes.settle()
        self.kept.compare(self)

    def _check_end(self):
        """Checks that the last signed size is that of the entries."""
        if not self.is_closed:
            self.findings.add("TRUNCATED", self.next_seq)
        elif self.signed_size is None:
            return
        elif self.signed_size > self.next_seq:
            self.findings.add("TRUNCATED", self.next_seq)
        elif self.signed_size < self.next_seq:
            self.findings.add("UNSIGNED_TAIL", self.signed_size, (self.signed_size, self.next_seq - 1))

    # ---- the end of the input -----------------------------------------------------------------------------

    def settle(self, later):
        """Ends the input: every bundle was read; `later` are those after this one."""
        if not self.has_header or self.is_stopped:
            return
        self._settle_base(later)
        epochs = [bundle for bundle in later if bundle.goes_on_from(self)]
        for bundle in epochs[:1]:
            bundle.compare_end(self)
        for one in self.kept.beyond_end:
            is_told = any(bundle.restores(self, one) for bundle in epochs)
            self.findings.add("RESTORED" if is_told else "ROLLBACK_VS_KNOWN_CHECKPOINT", self.next_seq)
        # A later epoch that continues this one signs its end.
        is_signed = any(not one.is_bad() and self.ends_at(one.structure.restored_from) for one in epochs)
        earlier = self.trust.finish(self.next_seq if is_signed else self.kept.known_size)
        if earlier is not None:
            self.findings.add("EARLIER_KEY_ONLY", earlier - 1)

    def _settle_base(self, later):
        if self.base_size == 0:
            return
        cut = Cut(self.name.origin, self.base_size, self.base_root)
        on_record = self.structure.has_withheld_cut or cut in self.structure.cuts
        # If the bundle breaks off, the entry that records the removal may lie beyond.
        on_record = on_record or not self.is_closed or any(one.records(cut, self.name) for one in later)
        proven = self.base_root is not None and on_record
        self.findings.add(
            "PRUNED_PREFIX" if proven else "PRUNED_PREFIX_UNPROVEN", span=(0, self.base_size - 1)
        )

    def records(self, cut, name):
        """Whether this later bundle of the family records the removal, and nothing is wrong with it."""
        if not self.has_header or name.sibling(self.name.origin) is None or self.is_bad():
            return False
        return self.structure.has_withheld_cut or cut in self.structure.cuts

    def goes_on_from(self, earlier):
        """Whether this chain's first entry names the earlier one as the chain that it continues."""
        told = self.structure.restored_from if self.has_header else None
        return told is not None and told.origin == earlier.name.origin

    def compare_end(self, earlier):
        """Checks that the earlier chain ended at the size and root that this one's first entry names."""
        if self.is_bad():
            return
        told, size = self.structure.restored_from, earlier.next_seq
        if size < told.size and earlier.is_closed:
            earlier.findings.add("TRUNCATED", size)
        if size == told.size and earlier.tree_is_sound and told.root != earlier.tree.root().hex():
            self.findings.add("GENESIS_MISMATCH", 0)

    def inherit(self, told):
        """Takes over the operators' states, the names and the probes, if the chain before was read in the same input."""
        for earlier in reversed(self.inputs.bundles):
            if earlier.name.origin == told.origin and earlier.ends_at(told) and not earlier.findings.is_fatal():
                self.states.inherit(earlier.states)
                self.repeats.inherit(earlier.repeats)
                self.probes.inherit(earlier.probes)
                return

    def ends_at(self, told):
        """Whether this chain ends at the size and root that a later epoch names."""
        return self.tree_is_sound and (told.size, told.root) == (self.next_seq, self.tree.root().hex())

    def restores(self, earlier, kept):
        """Whether this chain continues at the earlier one's end, and its restore covers the kept checkpoint."""
        told = self.structure.restored_from
        if self.is_bad() or not earlier.ends_at(told):
            return False
        return told.knew_of(kept.size, kept.root, earlier.name)

    def leaves_open(self, is_open, code):
        """Takes whether something kept was not compared with it, and the finding that says why."""
        self.is_open = is_open
        if is_open and code is not None:
            self.findings.add(code)

    # ---- the verdict --------------------------------------------------------------------------------------

    def is_trusted(self):
        """Whether a checkpoint in the bundle is signed by a trusted key."""
        return self.has_header and self.trust.has_signature

    def is_bad(self):
        """Whether it is fatally wrong, or no trusted key signed it."""
        return not self.is_trusted() or self.is_wrong()

    def is_wrong(self):
        """Whether anything fatal was found."""
        return any(finding.fatal for finding in self.findings.listed)

    def verdict(self):
        """One of the verdicts of section 9."""
        if not self.has_header:
            return "NOT VERIFIABLE"
        codes = {finding.code for finding in self.findings.said(self.is_trusted()) if finding.fatal}
        cannot_be_told = {"UNSUPPORTED_VERSION", "LIMIT_EXCEEDED"}
        if not self.is_trusted():
            cannot_be_told |= {"UNTRUSTED_KEY", "RETIRED_KEY", "EARLIER_KEY_ONLY"}
        if codes - cannot_be_told:
            is_diverged = codes & CONTRADICTIONS and not self.has_foreign_ends
            return "DIVERGED" if is_diverged else "TAMPERED"
        is_trusted = self.is_trusted() and not self.is_self_trusted
        if codes or not is_trusted or (not self.is_stopped and self.kept.has_bad_signature):
            return "NOT VERIFIABLE"
        if self.is_open:
            return NOT_COMPARED
        return "INTACT" if self.kept.held > 0 else "INTACT, UNANCHORED"

    def report(self):
        """What `--json` prints of the bundle."""
        said = self.findings.said(self.is_trusted())
        seq, span = first_bad(said)
        return {
            "origin": self.name.origin,
            "verdict": self.verdict(),
            "first_bad_seq": seq,
            "first_bad_range": span,
            "findings": [
                {"code": one.code, "fatal": one.fatal, "seq": one.seq, "range": one.range} for one in said
            ],
            "withheld": self.withheld,
            "erased": self.erased,
            "replayed": self.states.replayed if self.has_header else 0,
        }


def _commitment_of(value, name):
    """The commitment to the part that a line gives; None if that has no canonical form."""
    try:
        return part_commitment(name, bytes.fromhex(value["salt"]), value["data"]).hex()
    except Refused:
        return None


def pins_of(header):
    """The keys that a file itself lists: if none is pinned, they only show whether it is consistent with itself."""
    pins = []
    for key in header["keys"]:
        try:
            pins.append(Pin(parse_vkey(key["vkey"])[1]))
        except Malformed:
            continue
    return pins
