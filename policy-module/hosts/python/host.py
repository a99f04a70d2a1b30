"""Asks the policy module through wasmtime: host.py MODULE REQUESTS.

With --vectors, host.py --vectors MODULE FOLDER compares it with Kubernetes' recorded answers.
"""

import json
import os
import sys

from wasmtime import Instance, Module, Store


class Policy:
    """The module, after `docs/policy-module.md`."""

    def __init__(self, path):
        self.store = Store()
        module = Module.from_file(self.store.engine, path)
        assert not module.imports, "the module asks for something of its host"
        self.exports = Instance(self.store, module, []).exports(self.store)
        assert self.exports["version"](self.store) == 1, "another contract"

    def ask(self, request: bytes, limit=0) -> bytes:
        """Returns the answer to a request, both in JSON."""
        store, exports = self.store, self.exports
        pointer = exports["alloc"](store, len(request))
        if pointer == 0:
            raise MemoryError(f"no memory for {len(request)} bytes")
        exports["memory"].write(store, request, pointer)
        packed = exports["call"](store, pointer, len(request), limit)
        start, length = packed >> 32 & 0xFFFFFFFF, packed & 0xFFFFFFFF
        answer = exports["memory"].read(store, start, start + length)
        exports["free"](store, start)
        return bytes(answer)


def compare(module, folder):
    """Compares the module's answers with the recorded ones, by the runner that others copy."""
    sys.path.insert(0, os.path.join(folder, "runners"))
    import vectors

    policy = Policy(module)

    def ask(**request):
        return json.loads(policy.ask(json.dumps(request).encode()))

    def tolerates(case):
        gate = case.get("enable_comparison_operators", False)
        options = {"release": "1.36", "featureGates": {"TaintTolerationComparisonOperators": gate}}
        taints, tolerations = [case["taint"]], [case["toleration"]]
        found = ask(function="match", taints=taints, tolerations=tolerations, options=options)
        return {"tolerates": found["taints"][0].get("tolerationIndex") is not None}

    def zone_state(case):
        def node(status):
            conditions = [{"type": "Ready", "status": status}]
            return {} if status == "nil" else {"status": {"conditions": conditions}}

        kinds = case.get("not_ready_kinds") or []
        kinds += ["False"] * (case["not_ready"] - len(kinds))
        nodes = [node(status) for status in ["True"] * case["ready"] + kinds]
        options = {"unhealthyZoneThreshold": case["unhealthy_zone_threshold"]}
        found = ask(function="zone_state", nodes=nodes, options=options)
        return {"result_not_ready": found["notReady"], "result_state": found["state"]}

    for family in ("tolerates", "tolerates-numeric", "tolerates_1.36"):
        assert vectors.run(folder, family, tolerates, out=sys.stdout)
    assert vectors.run(folder, "zone_state", zone_state, out=sys.stdout)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        wrong = vectors.run(folder, "tolerates", lambda case: {"tolerates": True}, out=nowhere)
    assert not wrong, "a wrong entry passes"


def main():
    if sys.argv[1] == "--vectors":
        compare(*sys.argv[2:])
        return
    _, module, requests = sys.argv
    policy = Policy(module)
    count = 0
    with open(requests, encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            answer = policy.ask(case["request"].encode()).decode()
            assert answer == case["answer"], f"{case}\n{answer}"
            count += 1
    print(f"Python: {count} answers, the same bytes")


main()
