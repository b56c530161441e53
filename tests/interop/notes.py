"""Keys, signed notes, checkpoints and rotation certificates, docs/verify/evidence-format.md sections 6 and 7."""
import base64
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional, Tuple

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from tree import sha256

MAXIMAL_SIGNATURES = 32
LONGEST_NOTE = 16_384
CHAIN = re.compile(r"(?:sys|org/[A-Za-z0-9_-]{1,128}(?:/admin)?)(?:/e(?:[2-9]|[1-9][0-9]+))?")
SIZE = re.compile(r"[1-9][0-9]{0,14}")
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


class Malformed(ValueError):
    """A key, a note or a certificate that cannot be read, with the reason."""


# ---- base64 and public keys -------------------------------------------------------------------------------


def from_base64(text):
    """The bytes of base64 with padding, in its one form. Raises Malformed."""
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        raise Malformed("not base64") from None
    if base64.b64encode(value).decode() != text:
        raise Malformed("not the one form of base64")
    return value


_P = 2**255 - 19
_D = -121665 * pow(121666, _P - 2, _P) % _P


def _point(raw):
    """The affine point that 32 bytes encode, None if they encode none or not in the one form (RFC 8032, 5.1.3)."""
    whole = int.from_bytes(raw, "little")
    y, sign = whole & (2**255 - 1), whole >> 255
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if x * x % _P != square or (x == 0 and sign == 1):
        return None
    return (x if x & 1 == sign else _P - x), y


def _doubled(point):
    x, y = point
    product = _D * x * x * y * y % _P
    return (
        2 * x * y * pow(1 + product, _P - 2, _P) % _P,
        (y * y + x * x) * pow(1 - product, _P - 2, _P) % _P,
    )


@lru_cache(maxsize=1024)
def is_sound_public_key(raw):
    """Whether 32 bytes are a canonical encoding of a point that is not of small order."""
    point = _point(raw) if len(raw) == 32 else None
    if point is None:
        return False
    for _ in range(3):
        point = _doubled(point)
    return point != (0, 1)


def is_signature(raw_key, signature, message):
    """Whether this is the key's Ed25519 signature over the message."""
    try:
        Ed25519PublicKey.from_public_bytes(raw_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def key_id(name, raw_key):
    """The four bytes by which a signature's line names its key."""
    return sha256(name.encode(), b"\n\x01", raw_key)[:4]


# ---- key files and vkeys ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pin:
    """A key that is trusted from outside: for origins with the prefix of `name`, or for all if that is None.

    On `sys` it signs sizes from `first` up to `last`, if those are not None.
    """

    raw: bytes
    name: Optional[str] = None
    first: Optional[int] = None
    last: Optional[int] = None

    def is_for(self, prefix):
        """Whether the key is pinned for the origins of this prefix."""
        if self.name is None:
            return True
        if not self.name.startswith(prefix):
            return False
        rest = self.name[len(prefix) :]
        return rest == "keys" or CHAIN.fullmatch(rest) is not None


def parse_vkey(text):
    """Name and raw key of `name+<key id, hex>+<base64 of 0x01 and the raw key>`. Raises Malformed."""
    name, *rest = text.split("+", 2)
    if len(rest) != 2 or not is_note_name(name):
        raise Malformed("a key is name+id+base64")
    given_id, encoded = rest
    value = from_base64(encoded)
    if len(value) != 33 or value[0] != 1:
        raise Malformed("not an Ed25519 key")
    if given_id != key_id(name, value[1:]).hex():
        raise Malformed("the key's id is another")
    if not is_sound_public_key(value[1:]):
        raise Malformed("the key is of small order or not canonical")
    return name, value[1:]


def is_note_name(name):
    """Whether a key or an origin may have this name."""
    return name != "" and "+" not in name and not any(c.isspace() or ord(c) < 32 for c in name)


def read_pins(text):
    """The keys of a PEM file, which may have several, a JWKS or vkeys. Raises Malformed."""
    if text.lstrip().startswith("-----BEGIN"):
        return [Pin(_sound(_raw_of_pem("-----BEGIN" + block))) for block in text.split("-----BEGIN")[1:]]
    if text.lstrip().startswith("{"):
        return _pins_of_jwks(text)
    names = [parse_vkey(line) for line in text.split("\n") if line.strip() != ""]
    if not names:
        raise Malformed("no key")
    for name, _ in names:
        if re.fullmatch(rf".+/[^/]+/(?:{CHAIN.pattern}|keys)", name) is None:
            raise Malformed("the key is not for a chain")
    return [Pin(raw, name) for name, raw in names]


def _sound(raw):
    if not is_sound_public_key(raw):
        raise Malformed("the key is of small order or not canonical")
    return raw


def _raw_of_pem(text):
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Malformed(f"not a public key: {error}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise Malformed("not an Ed25519 key")
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _pins_of_jwks(text):
    try:
        pins = []
        for key in json.loads(text)["keys"]:
            if key["kty"] != "OKP" or key["crv"] != "Ed25519":
                continue
            raw = base64.urlsafe_b64decode(key["x"] + "=" * (-len(key["x"]) % 4))
            pins.append(Pin(_sound(raw), None, key.get("x-jiss-from"), key.get("x-jiss-until")))
    except (KeyError, TypeError, ValueError) as error:
        raise Malformed(f"not a JWKS: {error}") from None
    if not pins:
        raise Malformed("no Ed25519 key in the JWKS")
    return pins


# ---- signed notes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Note:
    """A C2SP signed note; each signature is name, key id and signature."""

    text: str
    signatures: Tuple[Tuple[str, bytes, bytes], ...]


@dataclass(frozen=True)
class Checkpoint:
    """Size and root of a chain, as a note states them."""

    origin: str
    size: int
    root: bytes
    note: Note


def parse_note(source):
    """Reads a note. Raises Malformed."""
    if len(source) > LONGEST_NOTE:
        raise Malformed("too long")
    if any(ord(c) < 32 and c != "\n" for c in source) or "\ufffd" in source:
        raise Malformed("a note holds text alone")
    end = source.rfind("\n\n")
    if end < 0 or not source.endswith("\n"):
        raise Malformed("a note is text, an empty line and signatures, each line ended")
    text, lines = source[: end + 1], source[end + 2 : -1].split("\n")
    if len(lines) > MAXIMAL_SIGNATURES:
        raise Malformed("too many signatures")
    return Note(text, tuple(map(_signature_of, lines)))


def _signature_of(line):
    dash, name, encoded = (line.split(" ") + ["", ""])[:3]
    if dash != "—" or line.count(" ") != 2 or not is_note_name(name):
        raise Malformed("a signature is a dash, a name and base64")
    value = from_base64(encoded)
    if len(value) < 5:
        raise Malformed("a signature is too short")
    return name, value[:4], value[4:]


def parse_checkpoint(source):
    """Reads a checkpoint: exactly origin, size and root. Raises Malformed."""
    note = parse_note(source)
    lines = note.text.split("\n")
    if len(lines) != 4:
        raise Malformed("a checkpoint has three lines")
    origin, size, root_text, _ = lines
    root = from_base64(root_text)
    if not is_note_name(origin) or SIZE.fullmatch(size) is None or len(root) != 32:
        raise Malformed("a checkpoint is origin, size and root")
    return Checkpoint(origin, int(size), root, note)


_CHECKPOINT = re.compile(r"^[^\s+]+\n[0-9]+\n[A-Za-z0-9+/=]+\n\n(?:— [^ \n]+ [^ \n]+\n)+", re.MULTILINE)


def checkpoints_in(source):
    """The checkpoints in a text, whatever is around them. Raises Malformed if there is none."""
    found = [parse_checkpoint(match[0]) for match in _CHECKPOINT.finditer(source)]
    if not found:
        raise Malformed("no checkpoint in the file")
    return found


def good_signers(note, name, raw_keys):
    """Those of the keys that signed the note under this name; None if a signature by one of them is bad."""
    by_id = {}
    for raw in raw_keys:
        by_id.setdefault(key_id(name, raw), []).append(raw)
    message, good = note.text.encode(), set()
    for signer, given_id, signature in note.signatures:
        candidates = by_id.get(given_id, []) if signer == name else []
        if not candidates:
            continue
        signed = [raw for raw in candidates if is_signature(raw, signature, message)]
        if not signed:
            return None
        good.update(signed)
    return good


# ---- rotation certificates --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Certificate:
    """Says that under this prefix one key follows another; both signed it."""

    prefix: str
    number: int
    old: bytes
    new: bytes


_CERTIFICATE = re.compile(
    r"(?P<name>[^\n]+)\nrotate (?P<number>[2-9]|[1-9][0-9]{1,14})\nold (?P<old>[^\n]+)\nnew (?P<new>[^\n]+)\n"
    r"from (?P<instant>[^\n]+)\nreason (?P<reason>[^\n]+)\n"
)
# Only here may an instant lack milliseconds.
_FROM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?Z")


def parse_certificate(source):
    """Reads a certificate and checks both signatures. Raises Malformed."""
    note = parse_note(source)
    match = _CERTIFICATE.fullmatch(note.text)
    if match is None or _FROM.fullmatch(match["instant"]) is None:
        raise Malformed("not a rotation certificate")
    if re.fullmatch(r"[^\n]+/[^/\n]+/keys", match["name"]) is None:
        raise Malformed("not a rotation certificate")
    old, new = _sound(from_base64(match["old"])), _sound(from_base64(match["new"]))
    if old == new or good_signers(note, match["name"], [old, new]) != {old, new}:
        raise Malformed("the certificate is not signed by both keys")
    return Certificate(match["name"][: -len("keys")], int(match["number"]), old, new)
