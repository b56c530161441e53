"""Whether bundles answer for every checkpoint that was kept of their family: docs/evidence-format.md section 9, "What
could not be compared".
"""
import re

from notes import good_signers

_ORIGIN = re.compile(
    r"(?P<prefix>(?:[A-Za-z0-9._-]+/){2,}?)(?P<family>sys|org/(?P<org>[A-Za-z0-9_-]{1,128})(?:/admin)?)"
    r"(?:/e(?P<epoch>[2-9]|[1-9][0-9]+))?"
)


def settle(bundles, checkpoints):
    """Tells each bundle in which nothing is wrong what it leaves open; every bundle of the input was read."""
    sound = [bundle for bundle in bundles if bundle.has_header and not bundle.is_bad()]
    # The verdict on a chain's own bundle tells more where something is wrong with it.
    told = {bundle.name.origin for bundle in bundles if bundle.has_header and bundle.is_bad()}
    kept = [(match, one) for one in checkpoints if (match := _ORIGIN.fullmatch(one.origin)) is not None]
    for history in _histories(sound):
        place = _ORIGIN.fullmatch(history[0].name.origin)
        family = [one for match, one in kept if _family(match) == _family(place)]
        if family:
            left = [one for one in family if one.origin not in told and not _is_answered(history, one, family)]
            code = "KNOWN_EPOCH_UNLINKED" if any(_is_of_another_epoch(history, one) for one in left) else None
            for bundle in history:
                bundle.leaves_open(left != [], code)
            continue
        for bundle in history:
            if _is_known_elsewhere(bundle, place, kept):
                bundle.leaves_open(True, "KNOWN_DEPLOYMENT_OTHER")


def _family(match):
    return match["prefix"], match["family"]


def _histories(sound):
    """The bundles in groups, those together that roots prove to be of one history."""
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
    """Whether the other one's end is known to be of this one's history: as its own end, a root that agreed, or the end
    from which a restore went on.
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
    """Whether it agrees; or is told to be lost with a restore, while something older that was kept agrees."""
    if _agrees(history, one):
        return True
    is_lost = any(bundle.name.origin == one.origin and one.size > bundle.next_seq for bundle in history)
    return is_lost and any(_agrees(history, other) and _rank(other) < _rank(one) for other in family)


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
    return any(
        match["prefix"] != place["prefix"] and good_signers(one.note, one.origin, bundle.trust.signed)
        for match, one in concerned
    )
