"""Compares a program with recorded answers of Kubernetes.

    import vectors

    def tolerates(case):
        return {"tolerates": my_tolerates(case["toleration"], case["taint"])}

    assert vectors.run("taintlab-vectors", "tolerates", tolerates)

`index.json` says which members of a case are the answer; the others are what the function gets. A
member that is absent, null, empty or false counts as the same. Under unittest or pytest, let a test
assert what `run` returns. No dependency but Python 3.8.
"""

import gzip
import json
import os
import sys


def families(folder):
    """The families of a folder, by name."""
    with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
        return {each["family"]: each for each in json.load(file)["families"]}


def cases(folder, name):
    """The cases of a family: what is asked, what was answered, and whether Kubernetes always says so."""
    family = families(folder)[name]
    with gzip.open(os.path.join(folder, name + ".jsonl.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            expected = {key: case.pop(key) for key in family["answer"] if key in case}
            for key, members in family.get("steps", {}).items():
                expected[key] = [{member: step.pop(member) for member in members if member in step}
                                 for step in case.get(key, [])]
            uncertain = any(case.get(key) for key in family.get("uncertain", []))
            uncertain |= not all(case.get(key) for key in family.get("uncertainUnless", []))
            yield case, expected, uncertain


def empty(value):
    return value is None or value is False or value in ("", [], {})


def plain(value):
    """A value without members that are absent, null, empty or false."""
    if isinstance(value, dict):
        members = ((key, plain(member)) for key, member in value.items())
        return {key: member for key, member in members if not empty(member)}
    return [plain(item) for item in value] if isinstance(value, list) else value


def same(one, other):
    """Whether two plain values are the same; numbers with a fraction may differ in the last digits."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) or isinstance(other, float):
        if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
            return False
        return abs(one - other) <= 1e-6 * max(abs(one), abs(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def run(folder, family, answer, show=3, out=sys.stderr):
    """Asks `answer` every case of a family, prints the first differences and a summary, and returns
    whether all agree. A case in which Kubernetes itself does not always say the same may differ."""
    agreed = differed = uncertain = 0
    for number, (case, expected, may_differ) in enumerate(cases(folder, family), 1):
        try:
            got = answer(case)
        except Exception as error:  # The other cases are asked, too.
            got = error
        if same(plain(got), plain(expected)):
            agreed += 1
        elif may_differ:
            uncertain += 1
        else:
            differed += 1
            if differed <= show:
                print(f"{family}, case {number}: {json.dumps(case)}\n"
                      f"  expected {json.dumps(expected)}\n"
                      f"  got      {json.dumps(got, default=repr)}", file=out)
    more = f", {uncertain} uncertain differ" if uncertain else ""
    print(f"{family}: {agreed} of {agreed + differed} agree{more}", file=out)
    return differed == 0 and agreed > 0
