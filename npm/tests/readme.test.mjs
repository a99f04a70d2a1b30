// The README's snippets, as they are written.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { execute, install, project, succeed } from "./support.mjs";

let folder;
let readme;
before(async () => {
  folder = await install();
  readme = readFileSync(join(folder, "node_modules/taintlab/README.md"), "utf8");
});

/** The blocks in a language, which is empty for those that name none. */
const blocks = (language) =>
  readme
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

test("commands: each line runs", async () => {
  const lines = blocks("")
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.startsWith("npx taintlab"));
  assert.equal(lines.length, 4);
  const cluster = `apiVersion: v1\nkind: Node\nmetadata: {name: worker-1}\n`;
  const scenario = `apiVersion: taintlab/v1\nkind: Scenario\nobjects: {nodes: [{metadata: {name: a}}]}\n`;
  const at = project(folder, "readme-commands", {
    "cluster.yaml": cluster,
    "scenarios/a.yaml": scenario,
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
