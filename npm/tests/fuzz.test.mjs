// A few seconds of random calls; `npm/tests/fuzz.mjs` makes as many as wanted.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fuzz } from "./fuzz.mjs";
import { install } from "./support.mjs";

test("random calls: nothing unexpected is thrown, nothing hangs, nothing is left behind", async (t) => {
  const seed = Number(process.env.TAINTLAB_SEED ?? 1);
  t.diagnostic(`seed ${seed}; TAINTLAB_SEED chooses another`);
  const { number, first, last } = await fuzz({
    folder: await install(),
    seed,
    calls: 50_000,
    milliseconds: 8_000,
  });
  t.diagnostic(`${number} calls`);
  assert.ok(number >= 100);
  // The tables of what the modules know of JavaScript grow with what they hold at once, not with
  // each call.
  for (const [index, length] of last.table.entries())
    assert.ok(length <= first.table[index] + 2_048, `${length}`);
  for (const bytes of last.memory) assert.ok(bytes < 256 << 20, `${bytes} bytes`);
});
