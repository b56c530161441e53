"""Canonical JSON, docs/verify/evidence-format.md section 1: read strictly, and written as RFC 8785 says.

`parse` takes what JSON allows and nothing else; `canonical` refuses what it cannot say. Anybody who holds a text against
`canonical(parse(text))` finds white space, members that stand twice and second spellings of a number or a string.
"""
import json
from json.encoder import encode_basestring

MAXIMAL_DEPTH = 64
WHOLE_LIMIT = 2**53


class Refused(ValueError):
    """The text is not JSON, or the value is none that canonical JSON can say."""


def parse(text):
    """The value of a JSON text; numbers are read to the nearest double. Raises Refused."""
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(str(error)) from None


def canonical(value):
    """The canonical text of a value. Raises Refused."""
    chunks = []
    _write(value, chunks.append, 0)
    return "".join(chunks)


def canonical_bytes(value):
    """The canonical text in UTF-8; lone surrogates are refused. Raises Refused."""
    return encoded(canonical(value))


def encoded(text):
    """UTF-8 of a well-formed string. Raises Refused."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("a lone surrogate") from None


def number_text(value):
    """A finite number as ECMAScript writes it: the digits of Python's `repr` in another layout. Raises Refused."""
    if isinstance(value, int):
        if -WHOLE_LIMIT <= value <= WHOLE_LIMIT:
            return str(value)
        value = float(value)
    shown = repr(value)
    if shown in ("inf", "-inf", "nan"):
        raise Refused("a number that is not finite")
    if value == 0:
        return "0"
    if "e" not in shown:
        # From 1e-4 up to 1e16 both write the same digits in the same layout, but for a fraction of nothing.
        return shown[:-2] if shown.endswith(".0") else shown
    sign = "-" if shown[0] == "-" else ""
    mantissa, _, exponent = shown.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The decimal point stands `point` digits after the first significant one begins.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def _whole(text):
    # Digits beyond what any double holds are refused at once: Python would read them in quadratic time.
    value = int(text) if len(text) < 400 else float("inf")
    return value if -WHOLE_LIMIT <= value <= WHOLE_LIMIT else float(text)


def _refuse_constant(name):
    raise Refused(f"{name} is no JSON")


def _utf16(name):
    return name.encode("utf-16-be", "surrogatepass")


def _string(value):
    # Python escapes what RFC 8785 escapes, in the same way, if it may leave the rest as it is: what
    # json.dumps(value, ensure_ascii=False) does with a string, without an encoder for each.
    return encode_basestring(value)


def _write(value, put, depth):
    if isinstance(value, str):
        put(_string(value))
    elif value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif isinstance(value, (int, float)):
        put(number_text(value))
    elif isinstance(value, dict):
        _write_members(value, put, depth + 1)
    elif isinstance(value, list):
        _check_depth(depth + 1)
        put("[")
        for index, item in enumerate(value):
            if index > 0:
                put(",")
            _write(item, put, depth + 1)
        put("]")
    else:
        raise Refused(f"a {type(value).__name__}")


def _write_members(value, put, depth):
    _check_depth(depth)
    names = list(value)
    names.sort(key=None if "".join(names).isascii() else _utf16)
    put("{")
    for index, name in enumerate(names):
        if index > 0:
            put(",")
        put(_string(name))
        put(":")
        _write(value[name], put, depth)
    put("}")


def _check_depth(depth):
    if depth > MAXIMAL_DEPTH:
        raise Refused("nested too deep")
