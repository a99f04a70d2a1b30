// The README's snippets, as they are written.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { ROOT, execute, install, project, succeed } from "./support.mjs";

let folder;
let readme;
before(async () => {
  folder = await install();
  readme = readFileSync(join(folder, "node_modules/taintlab/README.md"), "utf8");
});

/** The blocks in a language, which is empty for those that name none. */
const blocks = (language, text = readme) =>
  text
    .split(/^```/m)
    .filter((_, index) => index % 2 === 1)
    .map((block) => [block.slice(0, block.indexOf("\n")), block.slice(block.indexOf("\n") + 1)])
    .filter(([name]) => name === language)
    .map(([, text]) => text);

test("JavaScript: runs, and prints what its comments say", async () => {
  const snippets = blocks("js");
  assert.ok(snippets.length >= 2);
  for (const [index, text] of snippets.entries()) {
    const at = project(folder, `readme-${index}`, { "main.mjs": text });
    const printed = (await succeed("node", [join(at, "main.mjs")])).split("\n");
    for (const [, said] of text.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)) {
      assert.ok(printed.includes(said), `${said} is not among\n${printed.join("\n")}`);
    }
  }
});

test("the examples compile as strict TypeScript", async () => {
  const root = readFileSync(join(ROOT, "README.md"), "utf8");
  const all = [...blocks("js"), ...blocks("ts"), ...blocks("js", root)];
  assert.equal(all.length, 5);
  const files = Object.fromEntries(all.map((text, index) => [`${index}.ts`, text]));
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: "es2023",
    lib: ["es2023", "dom", "esnext.disposable"],
    types: [],
    module: "nodenext",
  };
  const at = project(folder, "readme-types", {
    ...files,
    "tsconfig.json": JSON.stringify({ compilerOptions, files: Object.keys(files) }),
  });
  const { stdout } = await execute(join(ROOT, "node_modules/.bin/tsc"), ["-p", at]);
  assert.equal(stdout, "");
});

test("sizes are those of the files", () => {
  const dist = join(folder, "node_modules/taintlab/dist");
  const size = (file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
  const [, whole, lite, most] =
    /has ([\d.]+) MB, that of `taintlab\/lite` (\d+) kB\. [^.]* more than (\d+) kB/s.exec(readme);
  for (const [said, file] of [
    [whole * 1e6, "taintlab_bg.wasm"],
    [lite * 1e3, "lite/taintlab_bg.wasm"],
  ]) {
    // A build for tests is not the smallest.
    const part = size(file) / said;
    assert.ok(part > 0.9 && part < 1.3, `${file}: ${size(file)} bytes`);
  }
  for (const file of ["taint-lab.js", "taint-lab.css", "glue.js", "manual.js", "web.js"]) {
    assert.ok(size(file) <= most * 1e3, file);
  }
});

test("commands: each line runs", async () => {
  const lines = blocks("")
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.startsWith("npx taintlab"));
  assert.equal(lines.length, 8);
  const pod = "kind: Pod\nmetadata: {name: a}\nspec: {nodeName: worker-1}\n";
  const node = "kind: Node\nmetadata: {name: worker-1}\n";
  const cluster = `apiVersion: v1\n${node}---\napiVersion: v1\n${pod}`;
  const scenario = `apiVersion: taintlab/v1\nkind: Scenario\nobjects: {nodes: [{metadata: {name: a}}]}
expect: [{nodeNotTainted: {node: a}}]
`;
  const at = project(folder, "readme-commands", {
    "cluster.yaml": cluster,
    "scenarios/a.yaml": scenario,
    "deploy/a.yaml": `apiVersion: v1\n${node}`,
    "pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n",
    "pods.yaml": `apiVersion: v1\n${pod}`,
    "top.txt": "NAME   CPU(cores)   MEMORY(bytes)\na      10m          300Mi\n",
  });
  for (const line of lines) {
    const { code, stdout, stderr } = await execute(
      "sh",
      ["-c", line.replace("npx", "npx --no-install")],
      { cwd: at },
    );
    assert.equal(code, 0, `${line}\n${stdout}${stderr}`);
  }
});

test("every exported function and every method is spoken of", async () => {
  const list = `
import * as taintlab from "taintlab";
const methods = Object.getOwnPropertyNames(taintlab.Simulator.prototype);
console.log(JSON.stringify([...Object.keys(taintlab), ...methods]));
`;
  const at = project(folder, "readme-names", { "main.mjs": list });
  const names = JSON.parse(await succeed("node", [join(at, "main.mjs")]));
  const beside = [
    "constructor",
    "__destroy_into_raw",
    "Snapshot",
    "releases",
    "version",
    "wallClock",
  ];
  const missing = names.filter((name) => !beside.includes(name) && !readme.includes(name));
  assert.deepEqual(missing, []);
});
