// The engine as wasm in Node: nothing imported, and the bytes that it wrote natively.

import assert from "node:assert/strict";
import { test } from "node:test";

import { runScenario } from "./engine.mjs";
import { engine, scenarios } from "./scenarios.mjs";

const module = new WebAssembly.Module(engine());

test("the engine imports nothing: no clock, no random source, no host", () => {
  assert.deepEqual(WebAssembly.Module.imports(module), []);
});

test("what is no scenario gives an error, not a trap", async () => {
  const answer = await runScenario(module, new TextEncoder().encode('{"kind": "Pod"}'));
  assert.match(new TextDecoder().decode(answer), /^error: .*kind: expected `kind: Scenario`/s);
});

for (const { name, scenario, events } of scenarios()) {
  test(`${name}: the same events as natively`, async () => {
    const answer = await runScenario(module, scenario);
    assert.equal(new TextDecoder().decode(answer), events);
  });
}
