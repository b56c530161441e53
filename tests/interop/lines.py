"""The lines of a file, docs/verify/evidence-format.md section 8, read one at a time and never held beyond their limit."""
from canonical import Refused, canonical, parse

LONGEST_LINE = 2**20


def lines_of(file):
    """The lines of a binary file without their line feeds, each with its form.

    A `line` is a whole one; a `long` one comes without its line feed and is followed by its `rest` in pieces; `cut off`
    is what stands after the last line feed.
    """
    is_inside = False
    while True:
        raw = file.readline(LONGEST_LINE + 2)
        if raw == b"":
            return
        if is_inside:
            yield raw, "rest"
            is_inside = not raw.endswith(b"\n")
        elif raw.endswith(b"\n") and len(raw) <= LONGEST_LINE + 1:
            yield raw[:-1], "line"
        elif len(raw) > LONGEST_LINE:
            yield raw, "long"
            is_inside = not raw.endswith(b"\n")
        else:
            yield raw, "cut off"


def read_line(raw):
    """The value of a line, None if it is not JSON, and whether the line is its canonical form."""
    if len(raw) > LONGEST_LINE:
        return None, False
    try:
        text = raw.decode("utf-8")
        value = parse(text)
    except (UnicodeDecodeError, Refused):
        return None, False
    try:
        return value, canonical(value) == text
    except Refused:
        return value, False


def is_header(value, raw):
    """Whether a line is the first of a bundle, of any version, even if it is not well-formed UTF-8."""
    if value is None and len(raw) <= LONGEST_LINE:
        try:
            value = parse(raw.decode("utf-8-sig", "replace"))
        except Refused:
            return False
    return isinstance(value, dict) and str(value.get("kind")).startswith("jis.bundle/")
