// The command between other programs: what it reads may come slowly or not at all, and what it
// writes may find nobody to read it.

import assert from "node:assert/strict";
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { execute, install, project, succeed } from "./support.mjs";

let folder;
let program;
before(async () => {
  folder = await install();
  program = join(folder, "node_modules/.bin/taintlab");
});

/** Writes the texts it is told to write, and says when each is written. */
const PRODUCER = `
import { createWriteStream } from "node:fs";
const pipe = createWriteStream(process.argv[2]);
process.on("message", (text) => {
  if (text === null) pipe.end(() => process.disconnect());
  else pipe.write(text, () => process.send("written"));
});
`;

// More than a pipe holds, so that the reader has begun when all of it is written.
const LONG = `# ${"-".repeat(1 << 18)}\n`;
const NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: worker-1}\n";
const POD = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\nspec: {nodeName: worker-1}\n";

/** \`taintlab run -\` with a pipe as its standard input, and the program at the other end. */
async function piped(name) {
  const at = project(folder, name, { "producer.mjs": PRODUCER });
  const pipe = join(at, "pipe");
  await succeed("mkfifo", [pipe]);
  const args = ["-c", 'exec "$0" run - --json < "$1"', program, pipe];
  const reader = spawn("sh", args, { stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    reader[stream].setEncoding("utf8").on("data", (text) => (said[stream] += text));
  }
  const producer = fork(join(at, "producer.mjs"), [pipe]);
  const write = async (text) => {
    const written = once(producer, "message");
    producer.send(text);
    await written;
  };
  const end = once(reader, "close").then(([code]) => ({ ...said, code }));
  return { reader, producer, write, end };
}

/** Until a process has nothing to do but wait, or has ended. */
async function idle({ pid, exitCode }) {
  const file = `/proc/${pid}/stat`;
  // Where the system does not say, the rest comes at once.
  while (exitCode === null && existsSync(file)) {
    const state = readFileSync(file, "utf8").split(") ")[1]?.[0];
    if (state !== "R" && state !== "D") return;
    await new Promise(setImmediate);
  }
}

test("a producer that is slow", async () => {
  const { reader, producer, write, end } = await piped("slow");
  await write(LONG + NODE);
  await idle(reader);
  await write(POD);
  producer.send(null);
  const { stdout, stderr, code } = await end;
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /"node":"worker-1"/);
});

test("Ctrl+C while it waits for its input ends it", async () => {
  const args = ["run", "-"];
  const child = spawn(process.env.TAINTLAB_BINARY, args, { stdio: ["pipe", "ignore", "pipe"] });
  child.stdin.on("error", () => {});
  // It says that it reads, and waits for more.
  child.stdin.write(`# ${"-".repeat(25_000_000)}\n`);
  await once(child.stderr, "data");
  child.kill("SIGINT");
  const [code] = await once(child, "close");
  assert.equal(code, 130);
});

test("a producer that is killed half-way", async () => {
  const { reader, producer, write, end } = await piped("killed");
  await write(`${LONG}${NODE}${POD.slice(0, -4)}`);
  await idle(reader);
  producer.kill("SIGKILL");
  const { stderr, code } = await end;
  assert.equal(code, 1, "what came is no whole text");
  assert.match(stderr, /^standard input:\d+:\d+: error: /);
});

test("a producer that says nothing", async () => {
  const { producer, end } = await piped("nothing");
  producer.send(null);
  const { stderr, code } = await end;
  assert.equal(code, 1);
  assert.equal(
    stderr,
    "standard input: error: it is empty; did the command before the pipe fail?\n",
  );
});

test("what is larger than the limit is refused, and what is large is announced", async () => {
  const endless = await execute("sh", ["-c", '"$0" run - < /dev/zero', program]);
  assert.equal(endless.code, 1);
  assert.match(
    endless.stderr,
    /standard input: error: it has more than 500 MB, which is the limit/,
  );
  const at = project(folder, "large", { "large.yaml": "", "announced.yaml": "" });
  truncateSync(join(at, "large.yaml"), 600_000_000);
  const { stderr, code } = await execute(program, ["run", join(at, "large.yaml")]);
  assert.equal(code, 1);
  assert.match(stderr, /large\.yaml: error: it has 600 MB, and at most 500 MB are read/);
  writeFileSync(join(at, "announced.yaml"), `${NODE}# ${"-".repeat(25_000_000)}\n`);
  const announced = await execute(program, ["run", join(at, "announced.yaml")]);
  assert.equal(announced.code, 0);
  assert.match(announced.stderr, /^reading .*announced\.yaml: 25 MB\n/);
});

test("a reader that goes early", async () => {
  const nodes = Array.from({ length: 2000 }, (_, i) => `---\n${NODE.replace("worker-1", `n${i}`)}`);
  const at = project(folder, "head", { "cluster.yaml": nodes.join("") });
  const line = '{ "$0" run "$1" --json; echo "ended with $?" >&2; } | head -1';
  const { stdout, stderr } = await execute("sh", ["-c", line, program, join(at, "cluster.yaml")]);
  assert.equal(stdout.trim().split("\n").length, 1);
  assert.equal(stderr, "ended with 0\n");
});

const full = existsSync("/dev/full") ? false : "there is no /dev/full";
test("a device that is full", { skip: full }, async () => {
  const at = project(folder, "full", { "cluster.yaml": NODE });
  const line = '"$0" run "$1" > /dev/full';
  const { stderr, code } = await execute("sh", ["-c", line, program, join(at, "cluster.yaml")]);
  assert.equal(code, 1);
  assert.equal(stderr, "error: standard output cannot be written: no space left on the device\n");
});
