// `taintlab run`: a cluster, what is done to it, and what happens.

import * as taintlab from "../dist/node.js";
import { bare, commandsOf, filesOf, given, moment, pairs, parse, release } from "./arguments.js";
import { CONNECTION, notReadLines, readCluster } from "./cluster.js";
import { bold, dim } from "./colours.js";
import { EXIT, Stop, ok, usage, warn } from "./problems.js";
import { filesBeside, isScenario, named, objectsOf, readText } from "./reading.js";

const OPTIONS = {
  until: { type: "string" },
  release: { type: "string" },
  flag: { type: "string", multiple: true, default: [] },
  command: { type: "string", multiple: true },
  kubectl: { type: "string", multiple: true },
  at: { type: "string", multiple: true },
  "keep-all": { type: "boolean", default: false },
  all: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  svg: { type: "boolean", default: false },
};

export async function run(args, help) {
  const line = parse(OPTIONS, args);
  if (line.values.help) return help();
  const files = filesOf(line.positionals, "run");
  return simulate(line, (options) => simulatorOf(files, options));
}

/** The same of the cluster of the current context, for `kubectl taintlab run`. */
export async function runCluster(args, help) {
  const line = parse({ ...OPTIONS, ...CONNECTION }, args);
  if (line.values.help) return help();
  if (line.positionals.length > 0) {
    throw usage(`run: it takes no files, since it reads the cluster; found \`${line.positionals[0]}\``);
  }
  return simulate(line, (options) => openCluster(line.values, options));
}

/** A simulation that begins with the cluster of the current context. */
async function openCluster(values, options) {
  return simulatorOfCluster(await readCluster(values), options);
}

/** The simulator of objects that were read of a cluster; `imported` tells of its release. */
export function simulatorOfCluster({ objects, release, releaseText, notRead }, options = {}) {
  const make = (settings) => taintlab.Simulator.fromManifests(objects, settings);
  const made = withFlags({ controllerManagerFlags: {}, ...options, release }, make);
  const imported = { ...made.imported, ...(releaseText && { release, releaseText }) };
  return { ...made, imported, notRead };
}

async function simulate({ values, tokens }, open) {
  if (values.svg && values.json) throw usage("--svg and --json cannot be used together");
  const options = {
    ...release(values.release),
    controllerManagerFlags: pairs(values.flag, "--flag"),
    keepAll: values["keep-all"],
  };
  const commands = commandsOf(tokens);
  const until = values.until === undefined ? undefined : moment("--until", values.until);
  const { simulator, warnings, imported, notRead } = await open(options);
  warn(warnings);
  tell(imported, values.release, " (--keep-all keeps it)");
  if (options.keepAll) console.error(KEPT);
  if (values.svg) simulator.recordLanes();
  for (const command of commands) carryOut(simulator, command);
  ok(until === undefined ? simulator.runToEnd() : simulator.advanceTo(until));
  if (values.svg) console.log(simulator.timelineSvg());
  else print(simulator, values, { notRead, ...simulated(imported, values.release) });
  simulator.free();
  return EXIT.ok;
}

const KEPT = "kept everything, also what may be secret: do not pass the output on";

/** Which release is simulated, and why, as far as it is not the newest for want of another. */
export function simulated({ release, releaseText }, chosen) {
  return chosen ? { release: chosen } : { release, releaseText };
}

/** The same as a line, if there is something to say. */
export function simulatedLines(imported, chosen) {
  const { release, releaseText } = simulated(imported, chosen);
  if (!release) return [];
  return [`release ${release}${releaseText ? `: ${releaseText}` : ""}`];
}

/** What was found in the manifests, besides objects; `hint` says how to keep what was left out. */
export function tell({ release, releaseText, newestTime, dropped }, chosen, hint = "") {
  if (release && !chosen) console.error(`simulating release ${release}: ${releaseText}`);
  if (newestTime)
    console.error(`the clock begins at ${newestTime}, the newest time in the objects`);
  if (dropped) console.error(`left out, since no simulation reads it: ${dropped}${hint}`);
}

async function simulatorOf(files, options) {
  const texts = [];
  for (const from of files) texts.push({ file: named(from), text: await readText(from), from });
  const scenario = texts.find(({ text }) => isScenario(text));
  if (!scenario) return withFlags(options, fromManifests(texts));
  if (texts.length > 1) {
    throw usage("a scenario runs by itself; name its other files in `objects.files`");
  }
  const { file, text, from } = scenario;
  const beside = await filesBeside(from, text);
  const make = taintlab.Simulator.fromScenario;
  return withFlags(options, (settings) => make(text, { file, files: beside, ...settings }));
}

function fromManifests(texts) {
  const { fromManifests: make } = taintlab.Simulator;
  const [{ file, text }] = texts;
  if (texts.length === 1) return (settings) => make(text, { file, ...settings });
  const { objects, placed } = objectsOf(texts);
  return (settings) => placed(make(objects, settings));
}

/** Makes a simulator; where it cannot be made because of --flag, that is said of the flag. */
function withFlags(options, make) {
  const answer = make(options);
  const flags = Object.entries(options.controllerManagerFlags);
  if (answer.ok || flags.length === 0) return ok(answer);
  const others = { ...options, controllerManagerFlags: {} };
  const without = make(others);
  if (!without.ok) return ok(answer);
  without.simulator.free();
  for (const [name, value] of flags) {
    const alone = make({ ...others, controllerManagerFlags: { [name]: value } });
    if (!alone.ok) throw usage(`--flag ${name}: ${bare(alone.errors[0])}`);
    alone.simulator.free();
  }
  throw usage(`--flag: ${bare(answer.errors[0])}`);
}

function carryOut(simulator, { line, command, at }) {
  if (line === undefined) {
    const answer = given("--command", () => simulator.command(command, at));
    late(answer, at);
    if (!answer.ok) throw new Stop(`error: --command: ${bare(answer.errors[0])}`, EXIT.failed);
    return;
  }
  const answer = simulator.kubectl(line, at);
  late(answer, at);
  const { stdout, stderr, exitCode } = ok(answer);
  process.stderr.write(stdout + stderr);
  if (exitCode !== 0) throw new Stop("", EXIT.failed);
}

/** A moment that the commands before have passed. */
function late(answer, at) {
  const late = answer.ok ? undefined : answer.errors.find(({ code }) => code === "timeWentBack");
  if (late) throw usage(`--at ${at}: ${bare(late)}`);
}

/** How long after the start a moment is, as Kubernetes writes durations. */
export function clock(millis) {
  if (millis < 1000) return `${millis}ms`.replace(/^0ms$/, "0s");
  const seconds = Math.floor(millis / 1000);
  const [h, m] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = Number((millis / 1000 - h * 3600 - m * 60).toFixed(9));
  return `${h ? `${h}h` : ""}${h || m ? `${m}m` : ""}${rest}s`;
}

/** What an event is about. */
function subject(event) {
  const { pod, node, workload, zone, budget } = event.involvedObject ?? event;
  return pod ?? node ?? workload ?? budget ?? (zone === "" ? "(no zone)" : (zone ?? ""));
}

export function printTable(head, rows) {
  const widths = head.map((title) => title.length);
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column], cell.length);
    });
  }
  const line = (cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]))
      .join("   ")
      .trimEnd();
  console.log(bold(line(head)));
  for (const row of rows) console.log(line(row));
}

function print(simulator, { json, all }, { notRead = [], release, releaseText }) {
  if (json) {
    const simulating = { at: 0, type: "simulating", release, releaseText };
    if (release) console.log(JSON.stringify(simulating));
    for (const one of notRead) console.log(JSON.stringify({ at: 0, type: "notRead", ...one }));
  }
  const rows = [];
  for (;;) {
    const events = simulator.events({ text: !json });
    if (events.length === 0) break;
    for (const event of events) {
      if (json) console.log(JSON.stringify(event));
      else if (all || event.visibility !== "internal") {
        rows.push([clock(event.at), subject(event), event.reason ?? event.type, event.text]);
      }
    }
  }
  if (!json) {
    printTable(["TIME", "OBJECT", "REASON", "WHAT"], rows);
    console.log(dim(`until ${clock(simulator.now)}`));
    for (const line of notReadLines(notRead)) console.log(dim(line));
  }
}
