// What is in the package, and what linters of packages say of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { publint } from "publint";

import { ROOT, TARBALL, execute, install } from "./support.mjs";

let folder;
let manifest;
before(async () => {
  folder = await install();
  manifest = JSON.parse(readFileSync(join(folder, "node_modules/taintlab/package.json"), "utf8"));
});

test("publint has nothing to say", async () => {
  const pkgDir = join(folder, "node_modules/taintlab");
  const { messages } = await publint({ pkgDir, pack: false, strict: true });
  assert.deepEqual(messages, []);
});

test("are-the-types-wrong has nothing to say", async () => {
  const program = join(ROOT, "node_modules/@arethetypeswrong/cli/dist/index.js");
  const wasm = ["taintlab_bg.wasm", "lite/taintlab_bg.wasm"];
  const others = [...wasm, "scenario.schema.json", "taint-lab.js", "taint-lab.css"];
  // For browsers, for workers and for programs that are ES modules themselves.
  const esm = ["report", "embed", "embed/react", "remark", "markdown-it"];
  for (const args of [
    ["--exclude-entrypoints", ...others, ...esm],
    ["--entrypoints", ...esm, "--ignore-rules", "cjs-resolves-to-esm"],
  ]) {
    // It ends with 1 if it has found something, and writes what.
    const { stdout } = await execute("node", [program, TARBALL, "--format=json", ...args]);
    const { problems } = JSON.parse(stdout).analysis;
    const ignored = ({ kind }) => args.includes("--ignore-rules") && kind === "CJSResolvesToESM";
    assert.deepEqual(
      problems.filter((problem) => !ignored(problem)),
      [],
    );
  }
});

test("every entry is there, with types first", () => {
  const check = (conditions) => {
    if (typeof conditions === "string") {
      readFileSync(join(folder, "node_modules/taintlab", conditions));
      return;
    }
    const names = Object.keys(conditions);
    if (names.includes("types")) assert.equal(names[0], "types");
    Object.values(conditions).forEach(check);
  };
  Object.values(manifest.exports).forEach(check);
});

test("the package depends on nothing and runs no script", () => {
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.scripts, undefined);
  for (const field of ["license", "repository", "engines", "sideEffects", "description"]) {
    assert.ok(manifest[field], field);
  }
});

test("the schema of scenarios is the repository's", () => {
  const shipped = readFileSync(join(folder, "node_modules/taintlab/scenario.schema.json"));
  assert.deepEqual(shipped, readFileSync(join(ROOT, "docs/scenario.schema.json")));
});

test("the wasm asks for nothing but its glue", () => {
  for (const build of ["dist", "dist/lite"]) {
    const wasm = readFileSync(join(folder, "node_modules/taintlab", build, "taintlab_bg.wasm"));
    const modules = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).map((i) => i.module);
    assert.deepEqual([...new Set(modules)].sort(), ["./boundary.js", "./taintlab_bg.js"]);
    const names = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).map((i) => i.name);
    const clock = names.filter((name) => /now|random|Date|crypto|performance/i.test(name));
    assert.deepEqual(clock, [], "no clock and no random source");
  }
});
