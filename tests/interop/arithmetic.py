"""The arithmetic of docs/verify/formulas.md, sections 1.3 and 1.4."""
import math

LN2 = 0.69314718055994529
LN2_HI = 0.69314718055920821
LN2_LO = 7.3710025651677989e-13
SQRT2 = 1.4142135623730951
SQRT1_2 = 0.70710678118654757


def clamp(value, low, high):
    """Section 1.3."""
    return min(max(value, low), high)


def round_half_up(value):
    """Section 1.3, `round`: floor(x + 0.5)."""
    return math.floor(value + 0.5)


def round_to(value, decimals):
    """Section 1.3."""
    scale = 10**decimals
    return round_half_up(value * scale) / scale


def quantised(value):
    """Section 1.3, `q9`."""
    return round_half_up(value * 1e9) / 1e9


def to_dimension(value):
    """Section 1.3."""
    return clamp(round_half_up(round_half_up(value * 1e6) / 1e4), 0, 100)


def natural_logarithm(value):
    """Section 1.4, `ln`; refuses what no sound document and record lead to."""
    if not 0 < value < math.inf:
        raise ValueError(f"ln({value})")
    mantissa, exponent = value, 0
    while mantissa > SQRT2:
        mantissa, exponent = mantissa * 0.5, exponent + 1
    while mantissa < SQRT1_2:
        mantissa, exponent = mantissa * 2, exponent - 1
    f = mantissa - 1
    s = f / (mantissa + 1)
    z = s * s
    q = 1 / 21
    for n in range(19, 2, -2):
        q = q * z + 1 / n
    return exponent * LN2_HI + (f - (s * (f - 2 * (z * q)) - exponent * LN2_LO))


def exponential(value):
    """Section 1.4, `exp`; refuses what no sound document and record lead to."""
    if not value <= 700:
        raise ValueError(f"exp({value})")
    if value < -700:
        return 0
    k = math.floor(value / LN2 + 0.5)
    r = (value - k * LN2_HI) - k * LN2_LO
    p = 1 / math.factorial(13)
    for n in range(12, 1, -1):
        p = p * r + 1 / math.factorial(n)
    y = 1 + (r + (r * r) * p)
    for _ in range(abs(k)):
        y = y * 2 if k > 0 else y * 0.5
    return y


def power(base, exponent):
    """Section 1.3."""
    return exponential(exponent * natural_logarithm(base))
