// Node, by import and by require; Deno and workerd, where they are installed.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import {
  RESULT,
  RESULT_LITE,
  ROOT,
  USE,
  USE_LITE,
  copy,
  install,
  project,
  succeed,
} from "./support.mjs";

let folder;
before(async () => {
  folder = await install();
});

for (const entry of ["taintlab", "taintlab/lite", "taintlab/inline", "taintlab/lite/inline"]) {
  const name = entry.replaceAll("/", "-");
  const [use, expected] = entry.includes("lite") ? [USE_LITE, RESULT_LITE] : [USE, RESULT];

  test(`import "${entry}"`, async () => {
    const text = `import * as taintlab from "${entry}";\n${use}console.log(result);\n`;
    const at = project(folder, name, { "main.mjs": text });
    assert.equal((await succeed("node", [join(at, "main.mjs")])).trim(), expected);
  });

  test(`require("${entry}")`, async () => {
    const text = `const taintlab = require("${entry}");\n${use}console.log(result);\n`;
    const at = project(folder, name, { "main.cjs": text });
    assert.equal((await succeed("node", [join(at, "main.cjs")])).trim(), expected);
  });
}

test("import and require give the same classes in Node", async () => {
  const text = `
import { createRequire } from "node:module";
import { Simulator } from "taintlab";
const required = createRequire(import.meta.url)("taintlab");
console.log(required.Simulator === Simulator);
`;
  const at = project(folder, "same", { "main.mjs": text });
  assert.equal((await succeed("node", [join(at, "main.mjs")])).trim(), "true");
});

for (const [init, title] of [
  ["await taintlab.default({ module_or_path: bytes })", "init"],
  ["taintlab.initSync({ module: bytes })", "initSync"],
]) {
  test(`taintlab/manual with ${title}`, async () => {
    const text = `
import { readFileSync } from "node:fs";
import * as taintlab from "taintlab/manual";
const bytes = readFileSync(new URL(import.meta.resolve("taintlab/taintlab_bg.wasm")));
${init};
${USE}console.log(result);
`;
    const at = project(folder, `manual-${title}`, { "main.mjs": text });
    assert.equal((await succeed("node", [join(at, "main.mjs")])).trim(), RESULT);
  });
}

test("lite has the questions that need no simulator, and answers as the whole does", async () => {
  const text = `
import * as lite from "taintlab/lite";
import * as whole from "taintlab";
const taints = [{ key: "a", value: "1", effect: "NoExecute" }, { key: "b", effect: "NoSchedule" }];
const tolerations = [{ key: "a", operator: "Exists", tolerationSeconds: 5 }, { key: "c" }];
const ask = ({ matchTolerations, validateTolerations, parseTaint, releases, version }) =>
  JSON.stringify([
    matchTolerations(taints, tolerations),
    validateTolerations([{ operator: "Equal" }], { release: "1.20" }),
    [parseTaint("a=b:NoExecute"), parseTaint("a=b:c:d")],
    [releases(), version()],
  ]);
console.log(Object.keys(lite).sort().join(" "), ask(lite) === ask(whole));
`;
  const at = project(folder, "lite", { "main.mjs": text });
  const said = (await succeed("node", [join(at, "main.mjs")])).trim();
  const names =
    "matchTolerations minTolerationSeconds parseTaint releases reset validateTaints validateTolerations version zoneState";
  assert.equal(said, `${names} true`);
});

const deno = join(ROOT, "node_modules/@deno/linux-x64-glibc/deno");
test("Deno", { skip: existsSync(deno) ? false : "Deno is not installed" }, async () => {
  const text = `import * as taintlab from "taintlab";\n${USE}console.log(result);\n`;
  const at = project(folder, "deno", { "main.mjs": text });
  const args = ["run", "--no-prompt", "--allow-read", "--node-modules-dir=manual", "main.mjs"];
  const env = { ...process.env, DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno") };
  assert.equal((await succeed(deno, args, { cwd: at, env })).trim(), RESULT);
});

const workerd = join(ROOT, "node_modules/@cloudflare/workerd-linux-64/bin/workerd");
test("workerd", { skip: existsSync(workerd) ? false : "workerd is not installed" }, async () => {
  const worker = `
import * as taintlab from "./taintlab/workerd.js";
export default {
  async test() {
    ${USE}
    if (result !== ${JSON.stringify(RESULT)}) throw new Error(result);
  },
};
`;
  const config = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .main)]);
const main :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "taintlab/workerd.js", esModule = embed "taintlab/workerd.js"),
    (name = "taintlab/glue.js", esModule = embed "taintlab/glue.js"),
    (name = "taintlab/taintlab_bg.wasm", wasm = embed "taintlab/taintlab_bg.wasm"),
  ],
);
`;
  const at = project(folder, "workerd", { "worker.js": worker, "config.capnp": config });
  copy(join(folder, "node_modules/taintlab/dist"), join(at, "taintlab"));
  await succeed(workerd, ["test", "config.capnp"], { cwd: at });
});
