"""Asks the policy module through wasmtime: host.py MODULE REQUESTS."""

import json
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


def main():
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
