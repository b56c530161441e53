"""Verifies one bundle, line by line, docs/evidence-format.md section 9.

It keeps the chain's last hash and time, the peaks of the tree, keys, model documents, and of each subject 32 bytes; what
is compared with other bundles of the same input (restores, erasures, anchors) is settled when the input has ended.
"""
import hashlib

from canonical import Refused, canonical, parse
from events import ErasuresOfBundle, LineOfStates, Structure, family_and_epoch, last_known
from findings import CONTRADICTIONS, Findings, first_bad
from notes import Malformed, parse_certificate, parse_checkpoint
from shapes import CHECKPOINT, ENTRY, HEADER, LADDER, MODEL, PART, TRAILER, whole
from tree import Tree, advanced_root, entry_hash, genesis_previous, part_commitment
from trust import Trust

LONGEST_LINE = 2**20
LONGEST_ENTRY = 4096
_KINDS = ("bundle", "model", "ladder", "part", "checkpoint", "trailer")


def read_line(raw):
    """The value of a line, None where it has none, and whether the line is its canonical form."""
    if len(raw) > LONGEST_LINE:
        return None, False
    try:
        text = raw.decode("utf-8")
        value = parse(text)
        return value, canonical(value) == text
    except (UnicodeDecodeError, Refused):
        return None, False


def is_header(value):
    """Whether a line's value is the first of a bundle, of whatever version."""
    return isinstance(value, dict) and str(value.get("kind")).startswith("jis.bundle/")


class Kept:
    """A checkpoint that is held against the chain: kept from an earlier visit, or an anchor of `sys`."""

    def __init__(self, size, root, checkpoint=None):
        self.size = size
        self.root = root
        self.checkpoint = checkpoint
        self.is_found = False
        self.found_root = None
        self.linked_size = size
        self.linked_root = root


class Bundle:
    """One bundle; `line` takes its lines, `end` tells that no more will come."""

    def __init__(self, inputs):
        self.inputs = inputs
        self.findings = Findings()
        self.has_header = False
        self.is_closed = False
        self.is_stopped = False
        self.digest = hashlib.sha256()
        self.origin = None
        self.prefix = ""
        self.chain = None
        self.family, self.epoch = "", 1
        self.base_size = 0
        self.next_seq = 0
        self.head = None
        self.last_timestamp = ""
        self.gaps = []
        self.tree = Tree()
        self.tree_is_sound = True
        self.stage = 0
        self.ladder_end = None
        self.last_seq = None
        self.entry = None
        self.entry_line_hash = None
        self.is_in_step = False
        self.skips_parts = False
        self.has_unread_entry = False
        self.parts_due = []
        self.parts = {}
        self.withheld = 0
        self.erased = 0
        self.good_size = None
        self.good_sizes = []
        self.signed_size = None
        self.base_root = None
        self.kept = []
        self.rollbacks = []
        self.has_bad_kept = False
        self.held = 0

    # ---- lines --------------------------------------------------------------------------------------------

    def line(self, raw, value, is_canonical):
        """Takes a line without its line feed, and what `read_line` made of it."""
        if self.is_stopped:
            return
        if not is_canonical and value is not None:
            self.findings.add("NON_CANONICAL_LINE", self._place_of(value))
        kind = value.get("kind") if isinstance(value, dict) else None
        if isinstance(value, dict) and "kind" not in value and self.has_header:
            self._take_entry(value, raw)
        elif not self._dispatch(kind, value):
            self._malformed(self._place_of(value))
            self.is_stopped = not self.has_header
            self._pass_over(value)
        self.digest.update(raw + b"\n")

    def _pass_over(self, value):
        """What a malformed line may have been is not missed a second time."""
        if value is None and not self.parts_due and self.stage == 3:
            self.has_unread_entry = True
        if value is None or (isinstance(value, dict) and value.get("kind") == "jis.part/1"):
            self.skips_parts = True

    def _dispatch(self, kind, value):
        """Takes a line of a kind; False where it is none, or not at its place."""
        if not isinstance(kind, str):
            return False
        name, _, version = kind.partition("/")
        if name[:4] != "jis." or name[4:] not in _KINDS:
            return False
        if version != "1":
            if name == "jis.bundle":
                self._stop()
            return name == "jis.bundle"
        return getattr(self, f"_take_{name[4:]}")(value)

    def _stop(self):
        self.findings.add("UNSUPPORTED_VERSION")
        self.is_stopped = True

    def _here(self):
        """The seq that an unreadable line at this place belongs to."""
        if self.last_seq is None:
            return None
        return self.last_seq if self.parts_due else self.next_seq

    def _place_of(self, value):
        """The seq of the entry that a line belongs to, None where it belongs to none."""
        if value is None:
            return self._here()
        if isinstance(value, dict) and value.get("kind", "jis.part/1") == "jis.part/1":
            return value["seq"] if whole()(value.get("seq")) else None
        return None

    def _malformed(self, seq=None):
        self.findings.add("MALFORMED_LINE", seq)

    # ---- header, models, ladder ---------------------------------------------------------------------------

    def _take_bundle(self, value):
        if self.has_header or not HEADER(value):
            return False
        self.has_header = True
        self.origin, self.chain = value["origin"], value["chain"]
        named = family_and_epoch(self.chain)
        if named is None or not self.origin.endswith("/" + self.chain):
            self.findings.add("WRONG_ORIGIN")
        else:
            self.family, self.epoch = named
            self.prefix = self.origin[: -len(self.chain)]
        self.trust = Trust(self.inputs.pins, self.origin, self.prefix, self.family == "sys")
        for key in value["keys"]:
            self._take_certificate(key["cert"])
        self.structure = Structure(self)
        self.line_of_states = LineOfStates(self)
        self.erasures = ErasuresOfBundle(self.inputs.erasures, self.prefix + self.family, self.findings)
        self.kept = self.inputs.kept_of(self.origin)
        self._take_base(value["base"])
        return True

    def _take_certificate(self, source):
        try:
            if source is not None:
                self.trust.add_certificate(parse_certificate(source))
        except Malformed:
            pass  # A candidate that does not hold makes nothing trusted.

    def _take_base(self, base):
        size = self.base_size = self.next_seq = base["size"]
        self.head = bytes.fromhex(base["prev"])
        if size == 0:
            if self.head != genesis_previous(self.origin):
                self.findings.add("GENESIS_MISMATCH", 0)
                self.head = genesis_previous(self.origin)
            self._see_root()
            return
        self.tree = Tree(size, map(bytes.fromhex, base["peaks"]))
        if len(base["peaks"]) != bin(size).count("1"):
            self.tree_is_sound = False
            return
        try:
            checkpoint = parse_checkpoint(base["checkpoint"] or "")
        except Malformed:
            return
        if checkpoint.size == size and checkpoint.root == self.tree.root() and self.trust.judge(checkpoint) is None:
            self.base_root = checkpoint.root
            self._take_good_size(size)
            self._see_root()

    def _take_model(self, value):
        if not self.has_header or self.stage > 1 or not MODEL(value):
            return False
        if value["sha256"] in self.line_of_states.documents:
            return False
        self.stage = 1
        self.line_of_states.add_document(value["sha256"], value["document"])
        return True

    def _take_ladder(self, value):
        if not self.has_header or self.stage > 2 or not LADDER(value):
            return False
        first, last = value["from"], value["to"]
        if not (self.ladder_end or 0) <= first < last <= self.base_size:
            return False
        self.stage, self.ladder_end = 2, last
        proof = [bytes.fromhex(one) for one in value["proof"]]
        for kept in self.kept:
            if kept.linked_size == first and kept.linked_root is not None:
                kept.linked_root = advanced_root(kept.linked_root, first, last, proof)
                kept.linked_size = last
        return True

    # ---- entries ------------------------------------------------------------------------------------------

    def _take_entry(self, value, raw):
        self._close_entry()
        self.stage = 3
        if value.get("v") != "jis.audit/1" and isinstance(value.get("v"), str):
            self._stop()
            return
        if len(raw) > LONGEST_ENTRY or not ENTRY(value):
            self._malformed(self.next_seq)
            self.last_seq = self.next_seq
            self.skips_parts = self.has_unread_entry = True
            return
        self.skips_parts = False
        self.entry, self.entry_line_hash, self.last_seq = value, entry_hash(raw), value["seq"]
        self.parts_due, self.parts = sorted(value["commit"]), {}
        if value["chain"] != self.chain:
            self.findings.add("WRONG_CHAIN", value["seq"])
        self.is_in_step = self._place(value["seq"])
        self.has_unread_entry = False
        if self.is_in_step:
            self._check_link(value)
            self._append(self.entry_line_hash, value)

    def _place(self, seq):
        """Whether the entry is the next in line, after a gap or not."""
        if seq == self.next_seq:
            return True
        self.tree_is_sound = False
        if seq == self.next_seq + 1 and self.has_unread_entry:
            self.next_seq, self.head = seq, None
            self.line_of_states.lose_track()
            return True
        if seq > self.next_seq:
            self.gaps.append((self.next_seq, seq - 1))
            self.line_of_states.lose_track()
            self.next_seq, self.head = seq, None
            return True
        if seq < self.base_size:
            self.findings.add("REORDERED", seq)
            return False
        for index, (first, last) in enumerate(self.gaps):
            if first <= seq <= last:
                rest = [(first, seq - 1), (seq + 1, last)]
                self.gaps[index : index + 1] = [gap for gap in rest if gap[0] <= gap[1]]
                self.findings.add("REORDERED", seq)
                return False
        self.findings.add("DUPLICATE_SEQ", seq)
        return False

    def _check_link(self, value):
        seq = value["seq"]
        if self.head is not None and value["prev"] != self.head.hex():
            if seq == 0:
                self.findings.add("GENESIS_MISMATCH", 0)
            else:
                self.findings.add("LINK_BROKEN", seq if self.good_size == seq else seq - 1)
                self.line_of_states.lose_track()
        if value["timestamp"] < self.last_timestamp:
            self.findings.add("CLOCK_ROLLBACK", seq)

    def _append(self, leaf, value):
        self.head = leaf
        self.next_seq = value["seq"] + 1
        if isinstance(value.get("timestamp"), str):
            self.last_timestamp = max(self.last_timestamp, value["timestamp"])
        if self.tree_is_sound:
            self.tree.append(leaf)
            self._see_root()

    def _see_root(self):
        for kept in self.kept:
            if kept.size == self.tree.size and not kept.is_found:
                kept.is_found, kept.found_root = True, self.tree.root()

    def _take_part(self, value):
        if self.skips_parts and (self.entry is None or value.get("seq") != self.entry["seq"]):
            return PART(value)
        if not PART(value) or self.entry is None or value["seq"] != self.entry["seq"]:
            return False
        name = value["name"]
        if name not in self.parts_due:
            return False
        while self.parts_due[0] != name:
            self.findings.add("PART_MISSING", self.entry["seq"])
            self.parts_due.pop(0)
        self.parts_due.pop(0)
        if "data" in value:
            self._take_data(value)
        elif "erased" in value:
            self.erased += 1
            self.erasures.need(self.entry["subject"], self.entry["seq"])
        elif "pruned" in value:
            self.structure.need_cut(self.entry["seq"])
        else:
            self.withheld += 1
        return True

    def _take_data(self, value):
        committed = self.entry["commit"][value["name"]]
        if part_commitment(value["name"], bytes.fromhex(value["salt"]), value["data"]).hex() != committed:
            self.findings.add("COMMITMENT_MISMATCH", self.entry["seq"])
        else:
            self.parts[value["name"]] = value["data"]

    def _close_entry(self):
        """All lines of the entry's parts were read."""
        entry, self.entry = self.entry, None
        if entry is None:
            return
        for _ in self.parts_due if not self.skips_parts else ():
            self.findings.add("PART_MISSING", entry["seq"])
        self.parts_due = []
        if self.is_in_step:
            self.structure.take(entry, self.parts)
            if self.inputs.replays:
                self.line_of_states.take(entry, self.entry_line_hash, self.parts)

    # ---- checkpoints --------------------------------------------------------------------------------------

    def _take_checkpoint(self, value):
        if not self.has_header or self.stage < 3 or not CHECKPOINT(value):
            return False
        self._close_entry()
        return self._check_note(value["note"], is_inline=True)

    def _check_note(self, source, is_inline=False):
        """False where it is no checkpoint, or stands where it does not belong."""
        try:
            checkpoint = parse_checkpoint(source)
        except Malformed:
            return False
        size = checkpoint.size
        if is_inline and self.tree_is_sound:
            if size > self.next_seq:
                # The entries that it covers come after it.
                self.findings.add("REORDERED", self.next_seq, (self.next_seq, size - 1))
                return True
            if size < self.next_seq or self.signed_size == size:
                return False
        self._check_signed(checkpoint)
        return True

    def _check_signed(self, checkpoint):
        """A checkpoint of the present size, as far as the tree is known."""
        size = checkpoint.size
        self.signed_size = max(self.signed_size or 0, size)
        code = self.trust.judge(checkpoint)
        if code is not None:
            self.findings.add(code, size - 1)
        elif self.tree_is_sound and self.tree.size == size:
            if checkpoint.root == self.tree.root():
                self._take_good_size(size)
            elif not self.findings.has("ROOT_MISMATCH"):
                first = self.base_size if self.good_size is None else self.good_size
                self.findings.add("ROOT_MISMATCH", span=(min(first, size - 1), size - 1))

    def _take_good_size(self, size):
        self.good_size = size
        self.good_sizes.append(size)

    def _take_trailer(self, value):
        if not TRAILER(value):
            return False
        self._close_entry()
        self.is_closed = True
        if value["bundle_sha256"] != self.digest.hexdigest():
            self.findings.add("BUNDLE_DIGEST_MISMATCH")
        if value["size"] != self.next_seq:
            self.findings.add("TRAILER_SIZE_MISMATCH", self.next_seq)
        return self._check_note(value["checkpoint"])

    # ---- the end ------------------------------------------------------------------------------------------

    def end(self):
        """No line of this bundle comes any more."""
        if not self.has_header:
            return
        self._close_entry()
        for first, last in self.gaps:
            self.findings.add("MISSING", first, (first, last))
        if self.is_stopped:
            return
        if not self.is_closed:
            self.findings.add("TRUNCATED", self.next_seq)
        elif self.signed_size is None:
            pass  # The trailer was malformed.
        elif self.signed_size > self.next_seq:
            self.findings.add("TRUNCATED", self.next_seq)
        elif self.signed_size < self.next_seq:
            self.findings.add("UNSIGNED_TAIL", self.signed_size, (self.signed_size, self.next_seq - 1))
        self.structure.settle()
        self.line_of_states.settle()
        self._check_base()
        self._check_kept()

    def _check_base(self):
        size = self.base_size
        if size == 0:
            return
        is_cut = self.structure.cut_is_withheld or (size, self.base_root) in self.structure.cuts
        proven = self.base_root is not None and is_cut
        self.findings.add("PRUNED_PREFIX" if proven else "PRUNED_PREFIX_UNPROVEN", span=(0, size - 1))

    def _check_kept(self):
        for kept in sorted(self.kept, key=lambda one: one.size):
            if kept.checkpoint is not None:
                code, _ = self.trust.signers(kept.checkpoint)
                if code is not None:
                    self.has_bad_kept = True
                    continue
            if kept.size < self.base_size:
                self._check_below_base(kept)
            elif kept.size > self.next_seq:
                self._check_beyond_end(kept)
            elif kept.is_found:
                self._check_within(kept)

    def _check_below_base(self, kept):
        is_at_base = kept.linked_size == self.base_size
        if kept.linked_root is None or (is_at_base and self.base_root not in (None, kept.linked_root)):
            self.findings.add("FORK_VS_KNOWN_CHECKPOINT", span=(0, kept.size - 1))
        elif is_at_base and self.base_root is not None:
            self._hold(kept)
        elif kept.checkpoint is not None:
            self.findings.add("KNOWN_CHECKPOINT_UNLINKABLE")

    def _check_within(self, kept):
        if kept.found_root == kept.root:
            self._hold(kept)
            self.good_sizes.append(kept.size)
        else:
            first = max((size for size in self.good_sizes if size < kept.size), default=0)
            self.findings.add("FORK_VS_KNOWN_CHECKPOINT", span=(first, kept.size - 1))

    def _check_beyond_end(self, kept):
        if self.findings.has("TRUNCATED"):
            return
        if kept.checkpoint is None:
            self.findings.add("ANCHOR_AHEAD", self.next_seq)
        else:
            self.rollbacks.append(kept)

    def _hold(self, kept):
        if kept.checkpoint is not None:
            self.held += 1

    # ---- the end of the input -----------------------------------------------------------------------------

    def settle(self, later):
        """Every bundle of the input was read; `later` are those after this one."""
        epochs = [bundle for bundle in later if bundle.follows(self)]
        for bundle in epochs[:1]:
            bundle.compare_end(self)
        for kept in self.rollbacks:
            is_restored = any(bundle.restores(self, kept) for bundle in epochs)
            self.findings.add("RESTORED" if is_restored else "ROLLBACK_VS_KNOWN_CHECKPOINT", self.next_seq)

    def follows(self, earlier):
        """Whether this chain is the next epoch of the earlier one."""
        detail = self.structure.restored_from if self.has_header else None
        return detail is not None and earlier.has_header and detail["previous_origin"] == earlier.origin

    def compare_end(self, earlier):
        """The earlier chain ended at the size and root that this one's first entry says."""
        if self.is_bad():
            return
        detail, size = self.structure.restored_from, earlier.next_seq
        if size < detail["restored_size"] and earlier.is_closed:
            earlier.findings.add("TRUNCATED", size)
        if size == detail["restored_size"] and earlier.tree_is_sound:
            if detail["restored_root"] != earlier.tree.root().hex():
                self.findings.add("GENESIS_MISMATCH", 0)

    def restores(self, earlier, kept):
        """Whether this chain goes on where the earlier one ended, and says that it knew of the kept checkpoint."""
        detail = self.structure.restored_from
        if self.is_bad() or detail["restored_size"] != earlier.next_seq:
            return False
        known = last_known(detail)
        if known is None or known.origin != earlier.origin or known.size < kept.size:
            return False
        return known.size > kept.size or known.root == kept.root

    def anchors(self):
        """Checkpoints of other chains, as a good bundle of `sys` holds them."""
        return [] if not self.has_header or self.is_bad() else self.structure.anchors

    # ---- what came of it ----------------------------------------------------------------------------------

    def is_trusted(self):
        """Whether a checkpoint in the bundle is signed by a trusted key."""
        return self.has_header and self.trust.has_signature

    def is_bad(self):
        """Whether it is fatally wrong, or cannot be told."""
        return not self.is_trusted() or any(finding.fatal for finding in self.findings.listed)

    def verdict(self):
        """One of the verdicts of section 9."""
        if not self.has_header:
            return "NOT VERIFIABLE"
        fatal = {finding.code for finding in self.findings.said(self.is_trusted()) if finding.fatal}
        if not self.is_trusted():
            fatal -= {"UNTRUSTED_KEY", "RETIRED_KEY"}
        is_unsupported = "UNSUPPORTED_VERSION" in fatal
        fatal.discard("UNSUPPORTED_VERSION")
        if fatal:
            return "DIVERGED" if fatal & CONTRADICTIONS else "TAMPERED"
        if is_unsupported or self.has_bad_kept or not self.is_trusted():
            return "NOT VERIFIABLE"
        return "INTACT" if self.held > 0 else "INTACT, UNANCHORED"

    def report(self):
        """What `--json` prints of the bundle."""
        said = self.findings.said(self.is_trusted())
        seq, span = first_bad(said)
        return {
            "origin": self.origin,
            "verdict": self.verdict(),
            "first_bad_seq": seq,
            "first_bad_range": span,
            "findings": [
                {"code": one.code, "fatal": one.fatal, "seq": one.seq, "range": one.range} for one in said
            ],
            "withheld": self.withheld,
            "erased": self.erased,
            "replayed": self.line_of_states.replayed if self.has_header else 0,
        }
