// The packed package, installed as a user installs it, and small projects that use it.
//
// Environment: TAINTLAB_PACKAGE, the tarball that `cargo xtask npm` built; CHROMIUM, a browser.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const TARBALL = process.env.TAINTLAB_PACKAGE ?? join(ROOT, "target", "npm", "taintlab.tgz");

const run = promisify(execFile);

/** The scenarios of the repository. */
export const EXAMPLES = readdirSync(join(ROOT, "examples"))
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => join(ROOT, "examples", file));

/** Runs a program; its outputs and exit code. */
export async function execute(program, args, options = {}) {
  const settings = { maxBuffer: 1 << 28, timeout: 120_000, ...options };
  const child = run(program, args, settings);
  // A program that reads nothing may have ended before.
  child.child.stdin?.on("error", () => {}).end(options.input ?? "");
  try {
    return { ...(await child), code: 0 };
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { stdout: error.stdout, stderr: error.stderr, code: error.code };
  }
}

/** Runs a program that must succeed; its standard output. */
export async function succeed(program, args, options) {
  const { stdout, stderr, code } = await execute(program, args, options);
  assert.equal(code, 0, `${program} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/** A folder into which the tarball is installed; gone when the program ends. */
export async function install() {
  const folder = mkdtempSync(join(tmpdir(), "taintlab-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const args = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", TARBALL];
  await succeed("npm", args, { cwd: folder });
  return folder;
}

/** A project beside the installed package: files by name. */
export function project(folder, name, files) {
  const at = join(folder, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, file)), { recursive: true });
    writeFileSync(join(at, file), text);
  }
  return at;
}

/** Makes packages of the repository's node_modules available to the projects. */
export function borrow(folder, ...names) {
  for (const name of names) {
    const at = join(folder, "node_modules", name);
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), at, "dir");
  }
}

/** Copies a folder of the installed package into a project. */
export const copy = (from, to) => cpSync(from, to, { recursive: true });

/** What every project does with the package; it leaves one line of JSON. */
export const USE = `
const taints = [{ key: "example.com/maintenance", effect: "NoExecute" }];
const tolerations = [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 90 }];
const { verdict } = taintlab.matchTolerations(taints, tolerations);
const manifests = [
  { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" }, spec: { taints } },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-0", namespace: "default" },
    spec: { nodeName: "worker-1", tolerations },
  },
];
const made = taintlab.Simulator.fromManifests(manifests);
const answer = made.simulator.runToEnd();
const deleted = made.simulator.events().find((event) => event.type === "podDeleted");
made.simulator.free();
const after = verdict.afterMilliseconds;
const result = JSON.stringify({ after, ok: answer.ok, deletedAt: deleted.at });
`;

/** What \`USE\` leaves. */
export const RESULT = '{"after":90000,"ok":true,"deletedAt":120000}';

/** The same for \`taintlab/lite\`, which has no simulator. */
export const USE_LITE = `
const taints = [{ key: "example.com/maintenance", effect: "NoExecute" }];
const tolerations = [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 90 }];
const { verdict } = taintlab.matchTolerations(taints, tolerations);
const conditions = [{ type: "Ready", status: "True" }];
const { state } = taintlab.zoneState([{ status: { conditions } }]);
const { ok } = taintlab.validateTaints(taints);
const result = JSON.stringify({ after: verdict.afterMilliseconds, state, ok });
`;

/** What \`USE_LITE\` leaves. */
export const RESULT_LITE = '{"after":90000,"state":"Normal","ok":true}';
