"""Whether bundles account for every kept checkpoint of their family: docs/verify/evidence-format.md section 9, "What
could not be compared".
"""
import re
from collections import namedtuple

from notes import good_signers

_ORIGIN = re.compile(
    r"(?P<prefix>(?:[A-Za-z0-9._-]+/){2,}?)(?P<family>sys|org/(?P<org>[A-Za-z0-9_-]{1,128})(?:/admin)?)"
    r"(?:/e(?P<epoch>[2-9]|[1-9][0-9]+))?"
)


# The size and root of another chain that a kept checkpoint of `sys` pins.
_Pinned = namedtuple("_Pinned", "origin size root")


def anchors_of(bundle, checkpoints):
    """The anchors of a bundle of `sys`: for each chain the newest one before each kept checkpoint of this `sys`, and
    the newest of all, as tuples of origin, size, root and the size of the first kept checkpoint that covers it, None
    if none does.
    """
    if not bundle.has_header or bundle.is_wrong():
        return []
    own = sorted((one for one in checkpoints if one.origin == bundle.name.origin), key=lambda one: one.size)
    found = {}
    for origin, size, root, seq in bundle.structure.anchors:
        pin = next((kept.size for kept in own if kept.size > seq), None)
        # An earlier epoch can be signed by keys that are not known yet; a kept checkpoint of it is proof enough.
        holds = any(kept.size == pin and (kept.size, kept.root) in bundle.kept.agreed for kept in own)
        if bundle.is_trusted() or holds:
            found[origin, pin] = (origin, size, root, pin)
    return list(found.values())


def settle(bundles, checkpoints):
    """Sets, once all bundles were read, what each sound one leaves open."""
    sound = [bundle for bundle in bundles if bundle.has_header and not bundle.is_bad()]
    # If a chain's own bundle is wrong, its own verdict says more.
    told = {bundle.name.origin for bundle in bundles if bundle.has_header and bundle.is_bad()}
    kept = [(match, one) for one in checkpoints if (match := _ORIGIN.fullmatch(one.origin)) is not None]
    pinned = [
        _Pinned(*one[:3]) for bundle in sound for one in anchors_of(bundle, checkpoints) if one[3] is not None
    ]
    # Prefixes whose `sys` is in the input, agrees with all its kept checkpoints, and comes with all that it anchored.
    systems = set()
    histories = [(history, _ORIGIN.fullmatch(history[0].name.origin)) for history in _histories(sound)]
    for history, place in sorted(histories, key=lambda one: one[1] is None or one[1]["org"] is not None):
        if place is None:
            continue
        own = [one for match, one in kept if _family(match) == _family(place)]
        pins = [one for one in pinned if (match := _ORIGIN.fullmatch(one.origin)) and _family(match) == _family(place)]
        left = [
            one for one in own + pins if one.origin not in told and not _is_answered(history, one, own + pins)
        ]
        is_epoch = any(_is_of_another_epoch(history, one) and not _is_lost(history, one) for one in left)
        has_system = place["org"] is None or place["prefix"] in systems
        lacks_system = not own and not has_system and any(
            match["org"] is None and match["prefix"] == place["prefix"] for match, _ in kept
        )
        is_any_open = False
        for bundle in history:
            is_elsewhere = not own and _is_known_elsewhere(bundle, place, kept)
            is_open = left != [] or lacks_system or is_elsewhere
            bundle.leaves_open(is_open, "KNOWN_EPOCH_UNLINKED" if is_epoch else None)
            if is_elsewhere:
                bundle.leaves_open(True, "KNOWN_DEPLOYMENT_OTHER")
            is_any_open = is_any_open or is_open
        if place["org"] is None and not is_any_open and _pins_all(history, own):
            systems.add(place["prefix"])


def _pins_all(history, own):
    """Whether the input has all that a history of `sys` anchored up to its kept checkpoints, in each epoch of them."""
    agrees = any(_agrees(history, one) for one in own)
    is_whole = all(not _is_of_another_epoch(history, one) or _is_lost(history, one) for one in own)
    last = {bundle.name.origin: 0 for bundle in history}
    for one in own:
        last[one.origin] = max(last.get(one.origin, 0), one.size)
    hides = any(
        bundle.base_size > 0 or any(seq < last[bundle.name.origin] for seq in bundle.structure.hidden_anchors)
        for bundle in history
    )
    return agrees and is_whole and not hides


def _family(match):
    return match["prefix"], match["family"]


def _histories(sound):
    """The bundles in groups; roots prove that those of a group are of one history."""
    groups = [{index} for index in range(len(sound))]
    for one, bundle in enumerate(sound):
        for other, earlier in enumerate(sound):
            if _meets(bundle, earlier):
                joined = groups[one] | groups[other]
                for index in joined:
                    groups[index] = joined
    seen = {id(group): group for group in groups}
    return [[sound[index] for index in sorted(group)] for group in seen.values()]


def _meets(bundle, other):
    """Whether the other one's end belongs to this one's history: it is its own end, a root that agreed, or the end
    that a restore continued.
    """
    if not other.tree_is_sound:
        return False
    end = (other.next_seq, other.tree.root())
    if bundle.name.origin == other.name.origin:
        own = (bundle.next_seq, bundle.tree.root()) if bundle.tree_is_sound else None
        return end == own or end in bundle.kept.agreed
    told = bundle.structure.restored_from
    return told is not None and told.origin == other.name.origin and other.ends_at(told)


def _is_answered(history, one, family):
    """Whether it agrees; or a restore recorded its loss, and an older kept checkpoint agrees."""
    if _agrees(history, one):
        return True
    return _is_lost(history, one) and any(
        _agrees(history, other) and _rank(other) < _rank(one) for other in family
    )


def _is_lost(history, one):
    """Whether a chain of the history records that a restore lost it: it lies beyond the end of the chain before, or
    in an epoch between the two.
    """
    ends = {}
    for bundle in history:
        ends[bundle.name.origin] = min(bundle.next_seq, ends.get(bundle.name.origin, bundle.next_seq))
    if one.size <= ends.get(one.origin, 0):
        return False
    return any(_loses(bundle, one) for bundle in history if _goes_on_within(bundle, ends))


def _goes_on_within(bundle, ends):
    told = bundle.structure.restored_from
    return told is not None and told.origin in ends


def _loses(bundle, one):
    told = bundle.structure.restored_from
    place = bundle.name.sibling(one.origin)
    previous = bundle.name.sibling(told.origin)
    if place is None or previous is None:
        return False
    if one.origin == told.origin:
        is_lost = one.size > told.size
    else:
        is_lost = previous.epoch < place.epoch < bundle.name.epoch
    return is_lost and told.knew_of(one.size, one.root, place)


def _agrees(history, one):
    return any(
        bundle.name.origin == one.origin and (one.size, one.root) in bundle.kept.agreed for bundle in history
    )


def _rank(one):
    return int(_ORIGIN.fullmatch(one.origin)["epoch"] or 1), one.size


def _is_of_another_epoch(history, one):
    return all(bundle.name.origin != one.origin for bundle in history)


def _is_known_elsewhere(bundle, place, kept):
    """Whether one of the keys that signed the bundle signed for the same organization in another deployment."""
    organization = place["org"]
    concerned = [
        (match, one)
        for match, one in kept
        if None in (organization, match["org"]) or match["org"] == organization
    ]
    if any(match["prefix"] == place["prefix"] and match["org"] == organization for match, _ in concerned):
        return False
    # Each key by itself: a bad signature by one does not spoil another's.
    keys = bundle.trust.joined()
    return any(
        match["prefix"] != place["prefix"] and any(good_signers(one.note, one.origin, [key]) for key in keys)
        for match, one in concerned
    )
