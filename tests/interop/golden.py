#!/usr/bin/env python3
"""Replays the golden vectors' histories and decisions with replay.py: golden.py VECTORS DOCUMENT.

Prints how many events and decisions were compared, and every difference; exits 1 if there is one.
"""
import json
import sys

import replay


def compare_history(document, defaults, history):
    """Every difference of one history, and how many outputs of it were compared."""
    found, compared, state, kept_weights = [], 0, None, []

    def compare(where, recorded, again):
        found.extend(f"{history['name']}: {where}{row}" for row in replay.differences(recorded, again))

    for index, event in enumerate(history["events"]):
        interaction = {**defaults, **event["interaction"]}
        mode = "lite" if event.get("lite") else "full"
        state, weights, result = replay.score(
            document, state, interaction, event["domain"], event["now"], mode
        )
        kept_weights.append(weights)
        late = event.get("label")
        if late is not None:
            labelled = {**defaults, **history["events"][late["of"]]["interaction"]}
            state = replay.label(
                document,
                {
                    "state": state,
                    "weights": kept_weights[late["of"]],
                    "decision": labelled["decision"],
                    "scenario_type": labelled["scenario_type"],
                    "label": late["outcome_correct"],
                },
            )
        if "after" in event:
            compared += 1
            again = {"state": state, "weights": weights, "result": result}
            compare(f"event {index}", event["after"], again)
    for index, decision in enumerate(history["decisions"]):
        compared += 1
        interaction = {**defaults, **decision["interaction"]}
        result = replay.decide(
            document, state, interaction, decision["domain"], decision["now"], decision["stakes"]
        )
        fired = [row for row in result["policy_triggers"] if row["triggered"]]
        compare(f"decision {index}", decision["result"], {**result, "policy_triggers": fired})
    return found, compared


def main(vectors_path, document_path):
    """Compares all and prints the differences."""
    with open(vectors_path, encoding="utf-8") as file:
        vectors = json.load(file)
    with open(document_path, encoding="utf-8") as file:
        document = json.load(file)
    found, total = [], 0
    for history in vectors["histories"]:
        differences, compared = compare_history(document, vectors["defaults"], history)
        found.extend(differences)
        total += compared
    print(f"compared: {total}")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
