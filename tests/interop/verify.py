"""Verifies evidence bundles offline: python3 verify.py FILE... --key KEY [--checkpoint FILE]... [--no-replay] [--json]

Written from docs/evidence-format.md and docs/formulas.md alone; it shares no code with the service. Python 3.9 or later
and the package `cryptography`. Files are read in the order given, as one input: epochs of a chain oldest first, a bundle
of `sys` before those that it anchors.

  --key KEY           a trusted key: a PEM file, a JWKS file, a file with vkeys, or a vkey itself; may be repeated
  --checkpoint FILE   checkpoints kept from earlier visits, among whatever other text (`jiss checkpoint` prints them),
                      or an answer of GET /v1/audit/checkpoint; may be repeated
  --no-replay         leaves out the replay of scores, so that withheld parts are no reason for exit code 2
  --json              prints one object instead of text

Exit code: 0 INTACT (also UNANCHORED, and with parts withheld where replay was left out), 1 TAMPERED or DIVERGED,
2 NOT VERIFIABLE, parts withheld, or a file, key or option that cannot be read. The object:

  {"verdict", "exit_code", "bundles": [{"origin", "verdict", "first_bad_seq", "first_bad_range",
    "findings": [{"code", "fatal", "seq", "range"}], "withheld", "erased", "replayed"}]}

`verdict` is the worst of the bundles'. `origin` is null where a bundle has no readable header. `seq` is an exact place,
`range` [first, last] one that is only known to lie in it; `first_bad_seq` is the smallest exact one, else the beginning
of the range in `first_bad_range`, else null. `withheld` and `erased` count parts, `replayed` entries.

Many inputs without starting anew: python3 verify.py --batch reads one JSON object a line from standard input,

  {"files": ["a.ndjson"], "key": "trusted.pem", "checkpoints": ["kept.txt"], "no_replay": false}

(`key` may be a list, `checkpoints` and `no_replay` may be left out), and answers each with one line, in order and flushed
at once: the object above, or {"error": "…", "exit_code": 2}. It ends with exit code 0 when standard input ends.
"""
import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

from bundle import LONGEST_LINE, Bundle, Kept, is_header, read_line  # noqa: E402
from events import Erasures, settle_erasures  # noqa: E402
from findings import EXIT_CODES, worst  # noqa: E402
from notes import checkpoints_in, read_pins  # noqa: E402


class Input:
    """All bundles that are verified together, with what is trusted and known beforehand."""

    def __init__(self, pins, checkpoints, replays):
        self.pins = pins
        self.checkpoints = checkpoints
        self.replays = replays
        self.erasures = Erasures()
        self.bundles = []
        self.has_file_without_bundle = False

    def kept_of(self, origin):
        """What is held against the chain of this origin."""
        kept = [Kept(one.size, one.root, one) for one in self.checkpoints if one.origin == origin]
        anchors = {
            (size, root)
            for bundle in self.bundles
            for anchored, size, root in bundle.anchors()
            if anchored == origin
        }
        return kept + [Kept(size, root) for size, root in sorted(anchors)]

    def read(self, file):
        """Takes one file: one bundle after another."""
        bundle = None
        for raw, is_ended in lines_of(file):
            value, is_canonical = read_line(raw) if is_ended else (None, False)
            if is_header(value) and (bundle is None or bundle.has_header or bundle.is_stopped):
                bundle = self._follow(bundle)
            if bundle is None:
                break
            if bundle.is_closed:
                bundle.findings.add("MALFORMED_LINE")
            elif is_ended or len(raw) > LONGEST_LINE:
                bundle.line(raw, value, is_canonical)
        self.has_file_without_bundle = self.has_file_without_bundle or bundle is None
        self._finish(bundle)

    def _follow(self, bundle):
        self._finish(bundle)
        return Bundle(self)

    def _finish(self, bundle):
        if bundle is not None:
            bundle.end()
            self.bundles.append(bundle)

    def settle(self):
        """Every file was read."""
        for index, bundle in enumerate(self.bundles):
            bundle.settle(self.bundles[index + 1 :])
        settle_erasures(self.erasures)

    def report(self):
        """The object that `--json` prints."""
        bundles = [bundle.report() for bundle in self.bundles]
        verdicts = [bundle["verdict"] for bundle in bundles]
        codes = [self._exit_code(bundle) for bundle in bundles]
        if self.has_file_without_bundle:
            verdicts, codes = [*verdicts, "NOT VERIFIABLE"], [*codes, 2]
        exit_code = 1 if 1 in codes else max(codes, default=2)
        return {
            "verdict": worst(verdicts),
            "exit_code": exit_code,
            "bundles": bundles,
        }

    def _exit_code(self, bundle):
        code = EXIT_CODES[bundle["verdict"]]
        return 2 if code == 0 and bundle["withheld"] > 0 and self.replays else code


def lines_of(file):
    """The lines of a binary file without their line feeds, each with whether it was ended; too long ones are cut."""
    while True:
        raw = file.readline(LONGEST_LINE + 2)
        if raw == b"":
            return
        if raw.endswith(b"\n"):
            yield raw[:-1], True
            continue
        is_too_long = len(raw) > LONGEST_LINE
        rest = raw
        while is_too_long and rest != b"" and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE)
        yield raw, False


def pins_of(sources):
    """The trusted keys. Raises OSError or ValueError."""
    pins = []
    for source in sources:
        text = source
        if os.path.exists(source):
            with open(source, encoding="utf-8") as file:
                text = file.read()
        pins.extend(read_pins(text))
    return pins


def checkpoints_of(paths):
    """The kept checkpoints. Raises OSError or ValueError."""
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.lstrip().startswith("{"):
            text = json.loads(text)["note"]
        found.extend(checkpoints_in(text))
    return found


def verified(files, keys, checkpoints=(), replays=True):
    """The report on files. Raises OSError or ValueError where an argument cannot be read."""
    inputs = Input(pins_of(keys), checkpoints_of(checkpoints), replays)
    for path in files:
        with open(path, "rb") as file:
            inputs.read(file)
    inputs.settle()
    return inputs.report()


def answer_to(line):
    """The answer to one line of `--batch`."""
    try:
        asked = json.loads(line)
        keys = asked["key"] if isinstance(asked["key"], list) else [asked["key"]]
        return verified(asked["files"], keys, asked.get("checkpoints", ()), not asked.get("no_replay", False))
    except (OSError, ValueError, LookupError, TypeError) as error:
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
    options.add_argument("--key", action="append", required=True)
    options.add_argument("--checkpoint", action="append", default=[])
    options.add_argument("--no-replay", action="store_true")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(arguments)
    try:
        report = verified(given.files, given.key, given.checkpoint, not given.no_replay)
    except (OSError, ValueError, LookupError) as error:
        print(f"verify.py: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report) if given.json else shown(report))
    return report["exit_code"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
