// Asks the policy module in Node, without bindings: host.mjs MODULE REQUESTS.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** The module, after `docs/policy-module.md`. */
export class Policy {
  constructor(bytes) {
    this.exports = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
    assert.equal(this.exports.version(), 1, "another contract");
  }

  /** The answer to a request, both in JSON. */
  ask(request, limit = 0) {
    const { memory, alloc, call, free } = this.exports;
    const bytes = new TextEncoder().encode(request);
    const pointer = alloc(bytes.length) >>> 0;
    if (pointer === 0) throw new RangeError(`no memory for ${bytes.length} bytes`);
    new Uint8Array(memory.buffer).set(bytes, pointer);
    const packed = call(pointer, bytes.length, limit);
    const start = Number(BigInt.asUintN(32, packed >> 32n));
    const length = Number(BigInt.asUintN(32, packed));
    const answer = new TextDecoder().decode(new Uint8Array(memory.buffer, start, length));
    free(start);
    return answer;
  }
}

const [module, requests] = process.argv.slice(2);
const policy = new Policy(readFileSync(module));
const lines = readFileSync(requests, "utf8").trimEnd().split("\n");
for (const line of lines) {
  const { request, answer } = JSON.parse(line);
  assert.equal(policy.ask(request), answer, request);
}
console.log(`Node: ${lines.length} answers, the same bytes`);
