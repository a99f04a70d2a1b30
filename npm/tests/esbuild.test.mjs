// What esbuild makes of the package without any setting of its own, run in Node.

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";

import { RESULT, RESULT_LITE, ROOT, USE, USE_LITE, install, project, succeed } from "./support.mjs";

let folder;
before(async () => {
  folder = await install();
});

const WAYS = {
  "a module": ["--format=esm", "--outfile=out.mjs"],
  "a module for Node": ["--platform=node", "--format=esm", "--outfile=out.mjs"],
  "CommonJS for Node": ["--platform=node", "--format=cjs", "--outfile=out.cjs"],
  "a script": ["--format=iife", "--outfile=out.cjs"],
  "a module for any platform": ["--platform=neutral", "--outfile=out.mjs"],
};

for (const [title, args] of Object.entries(WAYS)) {
  for (const [entry, use, expected] of [
    ["taintlab", USE, RESULT],
    ["taintlab/lite", USE_LITE, RESULT_LITE],
  ]) {
    test(`${entry} in ${title}`, async () => {
      const main = `import * as taintlab from "${entry}";\n${use}console.log(result);\n`;
      const name = `${entry} ${title}`.replaceAll(/[ /]/g, "-");
      const at = project(folder, name, { "main.mjs": main });
      const esbuild = join(ROOT, "node_modules/.bin/esbuild");
      await succeed(esbuild, ["main.mjs", "--bundle", "--log-level=warning", ...args], { cwd: at });
      const out = args.at(-1).split("=")[1];
      assert.equal((await succeed("node", [join(at, out)])).trim(), expected);
    });
  }
}

test("require, bundled for Node", async () => {
  const main = `const taintlab = require("taintlab");\n${USE}console.log(result);\n`;
  const at = project(folder, "require", { "main.cjs": main });
  const args = [
    "main.cjs",
    "--bundle",
    "--platform=node",
    "--outfile=out.cjs",
    "--log-level=warning",
  ];
  await succeed(join(ROOT, "node_modules/.bin/esbuild"), args, { cwd: at });
  assert.equal((await succeed("node", [join(at, "out.cjs")])).trim(), RESULT);
});
