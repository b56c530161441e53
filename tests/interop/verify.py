"""Verifies evidence bundles offline:

  python3 verify.py FILE... --key KEY [--checkpoint FILE]... [--answer FILE]... [--no-replay] [--json]

Written from docs/verify/evidence-format.md and docs/verify/formulas.md alone; it shares no code with the service. Python 3.9 or later
and the package `cryptography`. Files are read in the order given, as one input: epochs of a chain oldest first, a bundle
of `sys` before those that it anchors.

  --key KEY           a trusted key: a PEM file, a JWKS file, a file with vkeys, or a vkey itself; may be repeated. Without
                      one a file is held against the keys that it lists itself, and is NOT VERIFIABLE at best
  --checkpoint FILE   checkpoints kept from earlier visits, among whatever other text (`jiss checkpoint` prints them),
                      or an answer of GET /v1/audit/checkpoint; may be repeated
  --answer FILE       a saved answer whose evidence is of one entry: the entry must stand at its place, and its checkpoint
                      is one that was kept; may be repeated
  --no-replay         leaves out the replay of scores, so that withheld parts are no reason for exit code 2
  --json              prints one object instead of text

Exit code: 0 INTACT (also UNANCHORED, and with parts withheld if replay was left out), 1 TAMPERED or DIVERGED,
2 NOT VERIFIABLE, "INTACT, NOT COMPARED", parts withheld, or a file, key or option that cannot be read. The object:

  {"verdict", "exit_code", "bundles": [{"origin", "verdict", "first_bad_seq", "first_bad_range",
    "findings": [{"code", "fatal", "seq", "range"}], "withheld", "erased", "replayed"}]}

`verdict` is the worst of the bundles', one of INTACT, "INTACT, UNANCHORED", "INTACT, NOT COMPARED", NOT VERIFIABLE,
TAMPERED, DIVERGED; that parts were withheld is in `withheld` and the exit code. `origin` is null if a bundle has no readable header; a file
without any bundle counts as one such. `seq` is an exact place, `range` [first, last] one that is only known to lie in
it; `first_bad_seq` is the smallest exact one, else the beginning of the range in `first_bad_range`, else null. `withheld`
and `erased` count parts, `replayed` entries.

Many inputs without starting anew: python3 verify.py --batch reads one JSON object a line from standard input,

  {"files": ["a.ndjson"], "key": "trusted.pem", "checkpoints": ["kept.txt"], "answers": ["answer.json"],
   "entries": [{"origin", "seq", "entry_hash"}], "no_replay": false}

and answers each with one line, in order and flushed at once: the object above, or {"error": "…", "exit_code": 2}. `key`
may be a list; all but `files` may be left out. `entries` are held against the chains as saved answers are. The exit code
is 0 when standard input ends.
"""
import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

import compared  # noqa: E402
from answers import read_answer  # noqa: E402
from bundle import Bundle  # noqa: E402
from erasures import Erasures  # noqa: E402
from findings import EXIT_CODES, worst  # noqa: E402
from kept import Kept  # noqa: E402
from lines import is_header, lines_of, read_line  # noqa: E402
from notes import checkpoints_in, read_pins  # noqa: E402


class Input:
    """All bundles that are verified together, with the pins and everything kept."""

    def __init__(self, key_files=None, checkpoints=(), entries=(), replays=True):
        """`key_files` are the pins of each key file, None if none was given."""
        self.pins = None if key_files is None else [pin for pins in key_files for pin in pins]
        # Sets of keys of one holder each; certificates add to them.
        self.joins = [{pin.raw for pin in pins} for pins in key_files or ()]
        self.checkpoints = checkpoints
        self.entries = entries
        self.replays = replays
        self.families = {}
        self.bundles = []

    def kept_of(self, origin):
        """Sizes and roots to compare with the chain of this origin."""
        kept = [Kept(one.size, one.root, one) for one in self.checkpoints if one.origin == origin]
        anchors = [
            Kept(size, root, is_pinned=pin is not None)
            for bundle in self.bundles
            for anchored, size, root, pin in compared.anchors_of(bundle, self.checkpoints)
            if anchored == origin
        ]
        pinned = [one for one in anchors if one.is_pinned]
        others = [one.newest for one in self.bundles if one.newest and one.name.origin == origin and not one.is_bad()]
        return kept + pinned + [one for one in anchors[-1:] if not one.is_pinned] + [Kept(size, root) for size, root in others]

    def entries_of(self, origin):
        """Hashes of entries to compare with the chain of this origin, by seq."""
        found = {}
        for of, seq, leaf in self.entries:
            if of == origin:
                found.setdefault(seq, []).append(leaf)
        return found

    def erasures_of(self, family):
        """The erasures of a family that no entry has recorded yet."""
        return self.families.setdefault(family, Erasures())

    def read(self, file):
        """Takes one file: one bundle after another."""
        bundle = None
        for raw, form in lines_of(file):
            value, is_canonical = read_line(raw) if form == "line" else (None, False)
            if form == "line" and is_header(value, raw):
                bundle = self._follow(bundle)
            if bundle is None:
                break
            if bundle.is_closed:
                bundle.findings.add("MALFORMED_LINE")
            elif form == "rest":
                bundle.digest.update(raw)
            elif form != "cut off":
                bundle.line(raw, value, is_canonical)
        if bundle is None:
            bundle = Bundle(self)
            bundle.findings.add("MALFORMED_LINE")
        self._finish(bundle)

    def _follow(self, bundle):
        self._finish(bundle)
        return Bundle(self)

    def _finish(self, bundle):
        if bundle is not None:
            bundle.end()
            self.bundles.append(bundle)

    def settle(self):
        """Ends the input: every file was read."""
        # The last first: what a chain proves of the end of the one that it continues depends on its own signatures.
        for index, bundle in reversed(list(enumerate(self.bundles))):
            bundle.settle(self.bundles[index + 1 :])
        for erasures in self.families.values():
            erasures.settle()
        compared.settle(self.bundles, self.checkpoints)

    def report(self):
        """The object that `--json` prints."""
        bundles = [bundle.report() for bundle in self.bundles]
        codes = [self._exit_code(bundle) for bundle in bundles]
        return {
            "verdict": worst([bundle["verdict"] for bundle in bundles]),
            "exit_code": 1 if 1 in codes else max(codes, default=2),
            "bundles": bundles,
        }

    def _exit_code(self, bundle):
        code = EXIT_CODES[bundle["verdict"]]
        return 2 if code == 0 and bundle["withheld"] > 0 and self.replays else code


def text_of(path):
    """The text of a file. Raises OSError or ValueError."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def pins_of(sources):
    """The trusted keys of each source, None if there is none. Raises OSError or ValueError."""
    if not sources:
        return None
    texts = [text_of(source) if os.path.exists(source) else source for source in sources]
    return [read_pins(text) for text in texts]


def checkpoints_of(path):
    """The checkpoints in a file. Raises OSError or ValueError."""
    text = text_of(path)
    return checkpoints_in(json.loads(text)["note"] if text.lstrip().startswith("{") else text)


def verified(files, keys=(), checkpoints=(), answers=(), entries=(), replays=True):
    """The report on files. Raises OSError, ValueError or LookupError if an argument cannot be read."""
    kept = [checkpoint for path in checkpoints for checkpoint in checkpoints_of(path)]
    expected = [(one["origin"], one["seq"], bytes.fromhex(one["entry_hash"])) for one in entries]
    for path in answers:
        origin, seq, leaf, checkpoint = read_answer(text_of(path))
        kept.append(checkpoint)
        expected.append((origin, seq, leaf))
    inputs = Input(pins_of(keys), kept, expected, replays)
    for path in files:
        with open(path, "rb") as file:
            inputs.read(file)
    inputs.settle()
    return inputs.report()


def answer_to(line):
    """The answer to one line of `--batch`."""
    try:
        asked = json.loads(line)
        key = asked.get("key", [])
        return verified(
            asked["files"],
            key if isinstance(key, list) else [key],
            asked.get("checkpoints", ()),
            asked.get("answers", ()),
            asked.get("entries", ()),
            replays=not asked.get("no_replay", False),
        )
    except (AttributeError, OSError, ValueError, LookupError, TypeError) as error:
        return {"error": f"{type(error).__name__}: {error}", "exit_code": 2}


def shown(report):
    """The report as text."""
    lines = []
    for bundle in report["bundles"]:
        lines.append(f"{bundle['origin'] or 'no bundle'}: {bundle['verdict']}")
        for one in bundle["findings"]:
            place = "" if one["seq"] is None else f" at {one['seq']}"
            if one["range"] is not None:
                place += f" in {one['range'][0]} to {one['range'][1]}"
            lines.append(f"  {one['code']}{place}{'' if one['fatal'] else ' (not fatal)'}")
        if bundle["first_bad_seq"] is not None:
            lines.append(f"  first bad place: {bundle['first_bad_seq']}")
        counts = ("replayed", "withheld", "erased")
        lines.append("  " + ", ".join(f"{bundle[name]} {name}" for name in counts))
    return "\n".join([*lines, report["verdict"]])


def main(arguments):
    """The command line; returns the exit code."""
    if "--batch" in arguments:
        for line in sys.stdin:
            print(json.dumps(answer_to(line)), flush=True)
        return 0
    options = argparse.ArgumentParser(
        prog="verify.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("files", metavar="FILE", nargs="+")
    for name in ("--key", "--checkpoint", "--answer"):
        options.add_argument(name, action="append", default=[])
    options.add_argument("--no-replay", action="store_true")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(arguments)
    try:
        replays = not given.no_replay
        report = verified(given.files, given.key, given.checkpoint, given.answer, replays=replays)
    except (AttributeError, OSError, ValueError, LookupError, TypeError) as error:
        print(f"verify.py: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report) if given.json else shown(report))
    return report["exit_code"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
