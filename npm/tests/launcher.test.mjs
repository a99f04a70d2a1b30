// The launcher of the native program.
//
// Environment: TAINTLAB_BINARY, the program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { before, test } from "node:test";

import { ROOT, execute, install, project } from "./support.mjs";

let folder;
before(async () => {
  folder = await install();
});

const BINARY = process.env.TAINTLAB_BINARY;
const { TAINTLAB_BINARY: _, ...bare } = process.env;
const launch = (program, args, env) =>
  execute(join(folder, "node_modules/.bin", program), args, { env });

test("without the package of this platform it says what to do", async () => {
  for (const program of ["taintlab", "kubectl-taintlab"]) {
    const { stdout, stderr, code } = await launch(program, ["--version"], bare);
    assert.deepEqual([stdout, code], ["", 1]);
    assert.match(stderr, /^error: the package @taintlab\/\w+-\w+ is not installed, which has the/);
    assert.match(stderr, /TAINTLAB_BINARY\n$/);
    assert.doesNotMatch(stderr, /\n +at /);
  }
  const wrong = { ...bare, TAINTLAB_BINARY: "/nowhere/taintlab" };
  const { stderr, code } = await launch("taintlab", ["--version"], wrong);
  assert.equal(code, 1);
  assert.match(stderr, /^error: `\/nowhere\/taintlab` cannot be run: /);
});

test("the package of this platform is found beside it, under both names", async () => {
  const name = `@taintlab/${process.platform}-${process.arch}`;
  const manifest = JSON.stringify({ name, version: "0.1.0" });
  const at = project(folder, `node_modules/${name}`, { "package.json": manifest });
  copyFileSync(BINARY, join(at, "taintlab"));
  chmodSync(join(at, "taintlab"), 0o755);
  const version = await launch("taintlab", ["--version"], bare);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/, version.stderr);
  const plugin = await launch("kubectl-taintlab", ["--help"], bare);
  assert.match(plugin.stdout, /Usage: kubectl taintlab <COMMAND>/, plugin.stderr);
});

test("exit codes, standard input and signals go through", async () => {
  const program = join(folder, "node_modules/.bin/taintlab");
  const wrong = await execute(program, ["run", "--nonsense"]);
  assert.equal(wrong.code, 2);
  const input = "apiVersion: v1\nkind: Node\nmetadata: {name: worker-1}\n";
  const read = await execute(program, ["run", "-"], { input });
  assert.match(read.stdout, /RegisteredNode/);
  const child = spawn(program, ["run", "-"], { stdio: ["pipe", "ignore", "pipe"] });
  // It waits for its input, and so does the program behind it once it says that it reads.
  child.stdin.on("error", () => {});
  child.stdin.write(`# ${"-".repeat(25_000_000)}\n`);
  await once(child.stderr, "data");
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  assert.equal(code, 143);
});

test("the steps of the action run the program with one word on each line", async () => {
  const script = join(ROOT, "packaging/action.sh");
  const words = "explain\n--taint\na=1:NoExecute\n--toleration\n*\n";
  const env = { ...process.env, TAINTLAB_ARGUMENTS: words };
  const { stdout, code } = await execute("bash", [script], { env });
  assert.equal(code, 0);
  assert.match(stdout, /a running pod stays: every NoExecute taint is tolerated forever\n$/);
  const wrong = await execute("bash", [script], { env: { ...env, TAINTLAB_ARGUMENTS: "jump" } });
  assert.equal(wrong.code, 2);
  const none = await execute("bash", [script], { env: bare });
  assert.match(none.stderr, /TAINTLAB_VERSION: which release\?/);
  assert.notEqual(none.code, 0);
});
