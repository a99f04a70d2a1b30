// Whatever a caller gives, the module survives it, and says what is wrong.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { runInNewContext } from "node:vm";

import { install } from "./support.mjs";

let whole;
let lite;
before(async () => {
  const require = createRequire(join(await install(), "main.cjs"));
  whole = require("taintlab");
  lite = require("taintlab/lite");
});

const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };
const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "default" },
  spec: {
    nodeName: "a",
    tolerations: [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 90 }],
  },
};
const TAINT = { key: "a", effect: "NoExecute" };
const MINE = new RangeError("mine");
const throwing = () => {
  throw MINE;
};
const made = (objects = [NODE, POD], options = undefined) => {
  const answer = whole.Simulator.fromManifests(objects, options);
  assert.equal(answer.ok, true, JSON.stringify(answer.errors));
  return answer.simulator;
};
/** Calls a predicate, of a simulator in which something happens. */
function predicated(predicate) {
  const simulator = made();
  simulator.command({ taint: { node: "a", taint: TAINT } });
  try {
    return simulator.runUntil(() => predicate(simulator));
  } finally {
    simulator.free();
  }
}
/** The module answers as it did when it was loaded. */
function works(module) {
  assert.equal(
    module.matchTolerations([TAINT], [{ operator: "Exists" }]).taints[0].tolerationIndex,
    0,
  );
  assert.equal(module.minTolerationSeconds([{ operator: "Exists", tolerationSeconds: 5 }]), 5);
}
const thrownBy = (call) => {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** What throws \`MINE\` wherever it is looked at. */
const HOSTILE = {
  "a getter": {
    get key() {
      throw MINE;
    },
  },
  "a getter of a Proxy": new Proxy({}, { get: throwing }),
  "the names of a Proxy": new Proxy({}, { ownKeys: throwing }),
  toJSON: { key: { toJSON: throwing } },
};

for (const [title, value] of Object.entries(HOSTILE)) {
  test(`100,000 exceptions of ${title} are passed on and leave nothing behind`, () => {
    for (const module of [whole, lite]) {
      for (let i = 0; i < 25_000; i++) {
        assert.equal(
          thrownBy(() => module.matchTolerations([value], [])),
          MINE,
        );
        assert.equal(
          thrownBy(() => module.minTolerationSeconds([value])),
          MINE,
        );
      }
      works(module);
    }
  });
}

test("exceptions of options, lists and JSON are passed on as well", () => {
  const list = new Proxy([], { get: throwing });
  const options = {
    get release() {
      throw MINE;
    },
  };
  const simulator = made();
  for (let i = 0; i < 2_000; i++) {
    for (const call of [
      () => whole.matchTolerations(list, []),
      () => whole.matchTolerations([], [], options),
      () =>
        lite.zoneState([
          {
            get status() {
              throw MINE;
            },
          },
        ]),
      () => lite.zoneState([{ status: { conditions: list } }]),
      () => lite.validateTolerations([], { featureGates: new Proxy({}, { ownKeys: throwing }) }),
      () => whole.whenEvicted({ toJSON: throwing }, NODE),
      () => whole.schedule(POD, list),
      () => whole.Simulator.fromManifests([NODE], options),
      () =>
        simulator.command({
          get taint() {
            throw MINE;
          },
        }),
      () => simulator.events({ toJSON: throwing }),
      () => predicated(throwing),
    ]) {
      assert.equal(thrownBy(call), MINE, String(call));
    }
  }
  works(whole);
  works(lite);
  simulator.free();
});

test("what is said of a huge text is short", () => {
  const huge = "x".repeat(500_000);
  const node = (field) => `apiVersion: v1\nkind: Node\nmetadata: {name: a, ${field}}\n`;
  const calls = [
    () => whole.matchTolerations([], [], { release: huge }),
    () => lite.matchTolerations([], [], { release: huge }),
    () => whole.matchTolerations([{ key: "a", effect: "b", [`keyy${huge}`]: 1 }], []),
    () => whole.rankForEviction([], huge),
    () => whole.rankForEviction([], "memory.available", { usage: { [huge]: {} } }),
    () => whole.rankForEviction([], "memory.available", { release: huge }),
    () => whole.rankForEviction([], "memory.available", { [huge]: 1 }),
    () => whole.parseTaint(huge),
    () => whole.parseTaint(`${huge}:NoExecute`),
    () => whole.parseTaint(`a:${huge}`),
    () => lite.parseTaint(`a=${huge}:NoExecute`),
    () => whole.parseManifests(`apiVersion: v1\nkind: ${huge}\nmetadata: {name: a}\n`),
    () => whole.parseManifests(`apiVersion: ${huge}\nkind: Node\nmetadata: {name: a}\n`),
    () => whole.parseManifests(node(`${huge}: 1`)),
    () => whole.parseManifests(node(`labels: {${huge}: 1}`)),
    () => whole.parseManifests(node(`labels: {a: ${huge}}`)),
    () => whole.validateTaints([{ key: huge, effect: huge }]),
    () => whole.whenEvicted({ kind: huge }, {}),
    () => whole.Simulator.fromManifests([], { controllerManagerFlags: { [huge]: "1" } }),
    () => whole.Simulator.fromManifests([], { featureGates: { [huge]: true } }),
  ];
  for (const call of calls) {
    let said;
    try {
      const { errors = [], warnings = [] } = call();
      said = [...errors, ...warnings];
    } catch (error) {
      assert.ok(error instanceof TypeError, String(call));
      said = [{ message: error.message }];
    }
    for (const { message, path = "", help = "" } of said) {
      const most = Math.max(message.length, path.length, help.length);
      assert.ok(most <= 2_100, `${call}: ${most} letters`);
      if (message.length > 2_000) assert.match(message, /…/);
    }
  }
});

test("data that is nested too deeply is a TypeError that says so", () => {
  let deep = {};
  for (let i = 0; i < 100_000; i++) deep = { deep };
  const said = /^TypeError: .*nested too deeply: at most 1000 levels can be read$/;
  for (const call of [
    () => whole.Simulator.fromManifests([deep]),
    () => whole.Simulator.fromManifests(deep),
    () => whole.whenEvicted(deep, {}),
    () => whole.schedule(deep, []),
    () => whole.testScenario(deep),
    () => whole.rankForEviction([deep], "memory.available"),
  ]) {
    assert.match(String(thrownBy(call)), said, String(call));
  }
  // What a getter throws is the caller's own.
  const mine = new RangeError("Maximum call stack size exceeded");
  const own = { get a() { throw mine; } };
  assert.equal(thrownBy(() => whole.whenEvicted(own, {})), mine);
  works(whole);
});

test("one call simulates a year at most, and says so before it begins", () => {
  const simulator = made();
  simulator.command({ stopKubelet: { node: simulator.nodes()[0].metadata.name } });
  for (const at of [1e308, "9000h", 400 * 86_400_000]) {
    const { ok, errors } = simulator.advanceTo(at);
    assert.deepEqual([ok, errors[0].code, simulator.now], [false, "tooManyMoments", 0]);
    assert.match(errors[0].message, /^one call simulates at most a year/);
  }
  simulator.free();
});

test("values of every kind get an answer or a TypeError", () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  const cycle = {};
  cycle.cycle = cycle;
  let deep = {};
  for (let i = 0; i < 100_000; i++) deep = { deep };
  const values = [
    undefined,
    null,
    true,
    0,
    -0,
    NaN,
    Infinity,
    1e308,
    10n,
    "",
    "x".repeat(10_000_000),
    Symbol("s"),
    () => 1,
    class {},
    /x/,
    new Date(),
    new Date(NaN),
    new Map([[1, 2]]),
    new Set([1]),
    new Uint8Array(9),
    new ArrayBuffer(9),
    new Error("e"),
    Promise.resolve(),
    new WeakMap(),
    proxy,
    cycle,
    deep,
    Object.create(null),
    Object.create({ key: 5 }),
    [, ,],
    new Array(5),
    [[[]]],
    [null],
    [undefined],
    ["x"],
    [deep],
    [cycle],
    [proxy],
    [Symbol("s")],
    [10n],
    new String("s"),
    [new Number(5)],
    runInNewContext("[{ key: 5 }]"),
    runInNewContext("({ key: 'a' })"),
    globalThis,
    new Proxy([], { get: (array, name) => (name === "length" ? 2 ** 32 : array[name]) }),
  ];
  const simulator = made();
  const functions = [
    ...Object.values(whole).filter((f) => typeof f === "function" && !/^class/.test(f)),
    ...Object.values(lite),
    ...[
      "command",
      "kubectl",
      "advanceTo",
      "runUntil",
      "events",
      "node",
      "pods",
      "explain",
      "restore",
    ].map(
      (name) =>
        (...args) =>
          simulator[name](...args),
    ),
  ].filter((f) => f !== whole.reset && f !== lite.reset);
  for (const f of functions) {
    for (const value of values) {
      for (const args of [
        [value],
        [[], value],
        [[], [], value],
        [POD, value],
        [[value], [value]],
      ]) {
        const error = thrownBy(() => f(...args));
        const fine =
          error === undefined || error instanceof TypeError || error instanceof RangeError;
        assert.ok(fine, `${f.name}: ${error?.stack}`);
      }
    }
  }
  works(whole);
  works(lite);
  assert.equal(simulator.nodes().length, 1);
  simulator.free();
});

test("what Object.prototype is polluted with is passed on", () => {
  const set = () => {
    throw MINE;
  };
  const names = ["key", "taint", "ok", "verdict", "simulator", "now", "0", "limit"];
  const simulator = made();
  for (const name of names) {
    Object.defineProperty(Object.prototype, name, {
      set,
      get: () => undefined,
      configurable: true,
    });
  }
  try {
    for (let i = 0; i < 2_000; i++) {
      assert.equal(
        thrownBy(() => lite.matchTolerations([TAINT], [{ operator: "Exists" }])),
        MINE,
      );
      assert.equal(
        thrownBy(() => whole.parseTaint("=")),
        MINE,
      );
    }
    assert.equal(whole.Simulator.fromManifests([NODE]).ok, true);
    // What serde-wasm-bindgen makes has fields of its own, and what it reads is its own as well.
    assert.deepEqual(Object.keys(simulator.advanceTo(5)), [
      "ok",
      "now",
      "pendingEvents",
      "stopped",
    ]);
    assert.equal(simulator.zones()[0].key, "");
    assert.throws(() => simulator.events({ limit: "5" }), /options\.limit: expected/);
    Object.defineProperty(Object.prototype, "limit", { get: throwing, configurable: true });
    assert.ok(simulator.events({ text: true }).length > 0);
  } finally {
    for (const name of names) delete Object.prototype[name];
  }
  simulator.free();
  works(lite);
  works(whole);
});

test("a simulator at work refuses to be called, by a predicate and by what it reads", () => {
  const simulator = made();
  const atWork = /this Simulator is busy/;
  for (const call of [
    (s) => s.now,
    (s) => s.advanceTo(5),
    (s) => s.snapshot(),
    (s) => s.runUntil(() => true),
  ]) {
    assert.throws(() => predicated(call), atWork);
    assert.throws(
      () =>
        simulator.events({
          get limit() {
            return call(simulator);
          },
        }),
      atWork,
    );
  }
  const other = made();
  assert.equal(predicated(() => other.advanceTo("1h").ok).stopped, "predicate");
  assert.equal(simulator.advanceTo("2h").ok, true);
  other.free();
  simulator.free();
});

test("free() in a predicate is refused, and leaves the simulator as it was", () => {
  const simulator = made();
  const refused = /this Simulator is busy: free it when the call is over/;
  assert.throws(() => predicated((s) => s.free()), refused);
  assert.throws(
    () =>
      simulator.pods({
        get node() {
          simulator.free();
        },
      }),
    refused,
  );
  assert.equal(simulator.nodes().length, 1);
  simulator.free();
});

test("what was freed says so, and can be freed again", () => {
  const simulator = made();
  const snapshot = simulator.snapshot();
  const freed = (name) => ({ name: "TypeError", message: `this ${name} has been freed` });
  snapshot.free();
  for (let i = 0; i < 2_000; i++)
    assert.throws(() => simulator.restore(snapshot), freed("Snapshot"));
  simulator.free();
  for (let i = 0; i < 2_000; i++) {
    assert.throws(() => simulator.now, freed("Simulator"));
    assert.throws(() => simulator.advanceTo(1), freed("Simulator"));
    assert.throws(() => simulator.runUntil(() => true), freed("Simulator"));
  }
  simulator.free();
  snapshot.free();
  works(whole);
});

test("what is no simulator or snapshot is a TypeError", () => {
  const { Simulator, Snapshot } = whole;
  const simulator = made();
  const wrong = [
    () => Simulator.prototype.advanceTo.call({}, 5),
    () => Simulator.prototype.snapshot.call(simulator.snapshot()),
    () => Object.getOwnPropertyDescriptor(Simulator.prototype, "now").get.call(undefined),
    () => Snapshot.prototype.free.call(simulator),
    () => Object.create(Simulator.prototype).nodes(),
    () => new Simulator().nodes(),
    () => simulator.restore(),
    () => simulator.restore({}),
    () => simulator.restore(simulator),
    () => simulator.restore(Object.create(Snapshot.prototype)),
  ];
  for (const call of wrong) assert.throws(call, TypeError);
  // Frameworks that follow changes put a proxy before an object.
  assert.equal(new Proxy(simulator, {}).nodes().length, 1);
  simulator.free();
});

test("where the stack ends, the simulators that are at work stop, and nothing else", () => {
  const bystander = made();
  const simulators = [];
  const deeper = (simulator) => {
    simulators.push(simulator);
    predicatedWith(made(), deeper);
  };
  const predicatedWith = (simulator, predicate) => {
    simulator.command({ taint: { node: "a", taint: TAINT } });
    simulator.runUntil(() => predicate(simulator));
  };
  const error = thrownBy(() => predicatedWith(made(), deeper));
  assert.ok(
    error instanceof RangeError || error instanceof WebAssembly.RuntimeError,
    String(error),
  );
  const said = simulators.map((simulator) => thrownBy(() => simulator.nodes())?.message);
  const stopped = /^this simulator stopped because of an internal error; create a new one$/i;
  // Whether one stopped depends on whose frame was the last: the module's, or that of a predicate.
  assert.ok(
    said.every((message) => message === undefined || stopped.test(message)),
    said.join(),
  );
  for (const simulator of simulators) simulator.free();
  works(whole);
  assert.equal(bystander.advanceTo("1m").ok, true);
  bystander.free();
});

test("calls where the stack of JavaScript ends leave nothing behind", () => {
  const simulator = made();
  const calls = {
    matchTolerations: () => whole.matchTolerations([TAINT], [{ key: "a" }]),
    lite: () => lite.matchTolerations([TAINT], [{ key: "a" }]),
    nodes: () => simulator.nodes(),
  };
  for (const [name, call] of Object.entries(calls)) {
    let left = 20_000;
    let ended = 0;
    const down = () => {
      try {
        down();
      } catch {
        // The stack is at its end; a little more is left at each level on the way back.
      }
      if (left-- > 0 && thrownBy(call) instanceof RangeError) ended += 1;
    };
    for (let i = 0; i < 20; i++) thrownBy(down);
    assert.ok(ended > 20, `${name}: it came to that ${ended} times`);
  }
  works(whole);
  works(lite);
  simulator.free();
});

test("reset() begins anew: what was before says so, and its memory is given back", () => {
  for (let i = 0; i < 3; i++) {
    const simulator = made();
    const snapshot = simulator.snapshot();
    assert.throws(
      () => predicated(() => whole.reset()),
      /reset\(\) cannot be called while a call is under way/,
    );
    whole.reset();
    const before = (name) => ({
      name: "TypeError",
      message: `this ${name} is from before reset(); create a new one`,
    });
    assert.throws(() => simulator.now, before("Simulator"));
    const next = made();
    assert.throws(() => next.restore(snapshot), before("Snapshot"));
    assert.equal(next.advanceTo("5m").now, 300_000);
    for (const object of [simulator, snapshot, next]) object.free();
    assert.throws(() => simulator.now, /this Simulator has been freed/);
  }
  lite.reset();
  works(lite);
  works(whole);
});

test("memory that is used up is said to be, with what can be done", async () => {
  const { attach, guarded } = await import("../src/boundary.js");
  // A module whose one function traps, as the allocator does in the end.
  const trap = "0061736d0100000001040160000003020100070501016600000a05010300000b";
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(trap, "hex")));
  attach({ __stack_pointer: { value: 16 }, memory: { buffer: { byteLength: 2 ** 32 } } });
  assert.throws(guarded(exports.f), (error) => {
    assert.ok(error instanceof RangeError && error.cause instanceof WebAssembly.RuntimeError);
    assert.match(error.message, /no more memory \(the module holds 4096 MiB\).*call reset\(\)/);
    return true;
  });
});

test("what is not Unicode is refused, and what stands in its place is not", () => {
  const key = (key) => [{ key, effect: "NoExecute" }];
  const message = "a string that is not well-formed Unicode: it has half of a surrogate pair";
  for (const module of [whole, lite]) {
    for (const half of ["\ud800", "a\udc00b"]) {
      const error = { name: "TypeError", message: `taints[0].key: ${message}` };
      assert.throws(() => module.matchTolerations(key(half), []), error);
      assert.throws(() => module.parseTaint(half), { message: `text: ${message}` });
    }
    const [{ taint }] = module.matchTolerations(key("\ufffd 𝒳"), []).taints;
    assert.equal(taint.key, "\ufffd 𝒳");
  }
  assert.throws(() => whole.parseManifests("kind: \ud800"), { message: `text: ${message}` });
  assert.equal(
    whole.Simulator.fromManifests([{ ...NODE, metadata: { name: "\ud800" } }]).ok,
    false,
  );
  const half = { ...POD, metadata: { name: "\\\ud800" } };
  assert.throws(() => whole.whenEvicted(half, NODE), { message: `pod: there is ${message}` });
  const none = { ...POD, metadata: { name: "p", annotations: { a: "\\ud800 𝒳" } } };
  assert.equal(whole.whenEvicted(none, NODE).ok, true);
});

test("a field that is nearly right is said", () => {
  const near = /there is no field `tolerationseconds` here.*did you mean `tolerationSeconds`\?/;
  const toleration = { operator: "Exists", effect: "NoExecute", tolerationseconds: 5 };
  for (const module of [whole, lite]) {
    assert.throws(() => module.matchTolerations([], [toleration]), near);
    assert.throws(() => module.validateTolerations([toleration]), near);
    assert.throws(
      () => module.matchTolerations([{ ...TAINT, time_added: "" }], []),
      /did you mean `timeAdded`\?/,
    );
    assert.throws(
      () => module.matchTolerations([], [], { releas: "1.34" }),
      /did you mean `release`\?/,
    );
    assert.throws(
      () => module.matchTolerations([], [], { color: 1 }),
      /the fields here are `release`, `featureGates`/,
    );
    assert.equal(
      module.matchTolerations([{ ...TAINT, id: 5 }], []).taints.length,
      1,
      "others have no effect",
    );
  }
  const pod = { ...POD, spec: { tolerations: [toleration] } };
  const nowhere =
    /pod\.spec\.tolerations\[0\]\.tolerationseconds: .*did you mean `tolerationSeconds`\?/;
  assert.throws(() => whole.whenEvicted(pod, NODE), nowhere);
});
