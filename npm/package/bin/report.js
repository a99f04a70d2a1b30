// `taintlab report`: which failure hurts most, and what would help.

import { writeFileSync } from "node:fs";

import { bare, filesOf, moment, pairs, parse, release } from "./arguments.js";
import { CONNECTION, readCluster } from "./cluster.js";
import { bold, dim } from "./colours.js";
import { EXIT, Stop, ok, systemText, usage, warn } from "./problems.js";
import { filesBeside, isScenario, named, objectsOf, readText } from "./reading.js";
import { broken, ruleOf } from "./report-rules.js";
import { html, junit, markdown, terminal } from "./report-writers.js";
import { tell } from "./run.js";
import { merge, runs } from "../report/index.js";
import * as taintlab from "../dist/node.js";

const many = { type: "string", multiple: true, default: [] };

const OPTIONS = {
  release: { type: "string" },
  flag: many,
  domains: { type: "string", default: "node,zone,region,device-pool" },
  label: many,
  list: many,
  pairs: many,
  fault: { ...many, default: ["lost"] },
  horizon: { type: "string" },
  after: { type: "string" },
  settle: { type: "string" },
  seeds: { type: "string" },
  remedies: { type: "string" },
  workers: { type: "string" },
  shard: { type: "string" },
  cluster: many,
  json: { type: "boolean", default: false },
  markdown: { type: "boolean", default: false },
  junit: { type: "boolean", default: false },
  html: { type: "string" },
  "fail-if": many,
};

/** The flags of the command as they are unless given. */
export const DEFAULTS = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, option]) => [name, option.default]),
);

/** The command line. */
export async function command(args, help) {
  const { values, positionals } = parse(OPTIONS, args);
  if (values.help) return help();
  if (positionals[0] === "merge") return joined(positionals.slice(1), values);
  return report(filesOf(positionals, "report"), values);
}

/** `kubectl taintlab report`: the cluster of the current context. */
export async function reportCluster(args, help) {
  const { values, positionals } = parse({ ...OPTIONS, ...CONNECTION }, args);
  if (values.help) return help();
  if (positionals.length > 0) {
    throw usage(`report: it takes no files, since it reads the cluster; found \`${positionals[0]}\``);
  }
  const { objects, ...read } = await readCluster(values);
  const text = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  // `--cluster` is kubectl's here: whose name in the kubeconfig.
  const flags = { ...values, cluster: DEFAULTS.cluster, release: read.release };
  const told = values.release ? {} : read;
  const { context, version: server, namespace } = read;
  const notRead = read.notRead.map(({ kind, why }) => `${kind}: ${why}`);
  const source = { context, server, namespace, notRead };
  return report([{ file: "the cluster", text }], flags, { told, source });
}

/**
 * The report of files, or of texts that were read already: `{ file, text }`. The flags are those of
 * the command line, by name; of a cluster also what is told of its release, and where it was read.
 * Its exit code.
 */
export async function report(inputs, flags = {}, { told = {}, source } = {}) {
  const values = { ...DEFAULTS, ...flags };
  checkOutputs(values);
  const options = { ...optionsOf(values), ...(source && { source }) };
  const rules = values["fail-if"].map(ruleOf);
  const shard = values.shard === undefined ? undefined : shardOf(values.shard);
  if (shard && rules.length > 0) throw usage("--fail-if asks the whole report; give it to merge");
  const cluster = await clusterOf(inputs, values);
  const made = await makeRuns(cluster, { ...options, shard }, told);
  try {
    if (shard) {
      const { outline, results, interrupted } = made;
      const about = { taintlabReportPart: 1, shard, ...(interrupted && { interrupted }) };
      console.log(JSON.stringify({ ...about, outline, results }));
      return interrupted ? EXIT.failed : EXIT.ok;
    }
    return await write(made, values, rules);
  } finally {
    made.close();
  }
}

/** `taintlab report merge PART…`: the report of parts, the same as if one had made all runs. */
async function joined(files, values) {
  checkOutputs(values);
  const rules = values["fail-if"].map(ruleOf);
  const parts = [];
  for (const file of filesOf(files, "report merge")) parts.push(await partOf(file));
  const [{ outline }] = parts;
  const text = JSON.stringify(outline);
  const other = parts.find((part) => JSON.stringify(part.outline) !== text);
  if (other) {
    const why = "was made of another cluster, or with other options";
    throw new Stop(`${other.file}: error: it ${why} than ${parts[0].file}`, EXIT.failed);
  }
  const results = parts.flatMap((part) => part.results);
  const reasons = reasonsOf(parts);
  if (values.cluster.length === 0) {
    return write({ outline, results }, values, rules, reasons);
  }
  const cluster = await clusterOf(values.cluster, values);
  const made = await makeRuns(cluster, { ...outline.options, ...workersOf(values), parts });
  try {
    if (JSON.stringify(made.outline) !== text) {
      const why = "it is not the cluster that the parts were made of, or has other flags";
      throw new Stop(`--cluster: error: ${why}`, EXIT.failed);
    }
    return await write(made, values, rules, reasons);
  } finally {
    made.close();
  }
}

async function partOf(from) {
  const file = named(from);
  const text = await readText(from);
  let part;
  try {
    part = JSON.parse(text);
  } catch (error) {
    throw new Stop(`${file}: error: this is not JSON: ${error.message}`, EXIT.failed);
  }
  if (part?.taintlabReportPart !== 1 || !Array.isArray(part.results)) {
    const why = "expected a part of a report, as `taintlab report --shard 1/2` prints it";
    throw new Stop(`${file}: error: ${why}`, EXIT.failed);
  }
  let answer;
  try {
    answer = merge(part.outline, part.results);
  } catch ({ message }) {
    answer = { ok: false, errors: [{ message }] };
  }
  if (!answer.ok) {
    const why = `this part of a report is damaged: ${answer.errors[0].message}`;
    throw new Stop(`${file}: error: ${why}`, EXIT.failed);
  }
  return { ...part, file };
}

/** Why parts are not the whole. */
function reasonsOf(parts) {
  const [, count = 1] = parts[0].shard ?? [];
  const there = new Set(parts.map(({ shard }) => shard?.[0]));
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter(
    (index) => count > 1 && !there.has(index),
  );
  return [
    ...missing.map((index) => `part ${index} of ${count} is missing`),
    ...parts.flatMap(({ file, interrupted }) =>
      interrupted ? `${file}: this part was interrupted` : [],
    ),
  ];
}

function checkOutputs(values) {
  const chosen = ["json", "markdown", "junit"].filter((name) => values[name]);
  if (chosen.length > 1) {
    throw usage(`--${chosen[0]} and --${chosen[1]} cannot be used together`);
  }
  if (values.shard !== undefined && (chosen.some((name) => name !== "json") || values.html)) {
    throw usage("--shard prints a part as JSON; give the other outputs to `taintlab report merge`");
  }
}

const number = (option, text, least) => {
  if (!/^\d+$/.test(text) || Number(text) < least) {
    throw usage(`${option}: expected a whole number from ${least} on, found \`${text}\``);
  }
  return Number(text);
};

function shardOf(text) {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (!index || Number(index) < 1 || Number(index) > Number(count)) {
    throw usage(`--shard: expected a part such as 3/16, found \`${text}\``);
  }
  return [Number(index), Number(count)];
}

const FAULTS = {
  lost: () => ({ type: "lost" }),
  // As `lost` was once called where one node is meant.
  unreachable: () => ({ type: "lost" }),
  "power-off": (after = "5m") => ({
    type: "powerOff",
    backAfter: moment("--fault power-off", after),
  }),
  "network-cut": () => ({ type: "networkCut" }),
  drained: () => ({ type: "drained" }),
  "shut-down": () => ({ type: "shutDown" }),
  tainted(text = "taintlab/failed:NoExecute") {
    const answer = taintlab.parseTaint(text);
    if (!answer.ok) throw usage(`--fault tainted: ${answer.errors[0].message}`);
    return { type: "tainted", taint: answer.taint };
  },
};

function faultOf(text) {
  const [, name, value] = /^([^=]*)(?:=(.*))?$/s.exec(text);
  if (Object.hasOwn(FAULTS, name)) return FAULTS[name](value);
  const known = Object.keys(FAULTS).filter((known) => known !== "unreachable").join(", ");
  throw usage(`--fault: expected one of ${known}, found \`${name}\``);
}

const PAIRS = ["node", "zone", "region", "label", "list"];

function pairOf(kind) {
  if (PAIRS.includes(kind)) return kind;
  throw usage(`--pairs: expected one of ${PAIRS.join(", ")}, found \`${kind}\``);
}

function optionsOf(values) {
  const kinds = values.domains.split(",").filter(Boolean);
  const wrong = kinds.find((kind) => !["node", "zone", "region", "device-pool"].includes(kind));
  if (wrong) {
    throw usage(`--domains: expected node, zone, region or device-pool, found \`${wrong}\``);
  }
  const lists = Object.entries(pairs(values.list, "--list"));
  const options = {
    nodes: kinds.includes("node"),
    zones: kinds.includes("zone"),
    regions: kinds.includes("region"),
    devicePools: kinds.includes("device-pool"),
    labels: values.label,
    lists: lists.map(([name, nodes]) => ({ name, nodes: nodes.split(",") })),
    pairs: values.pairs.map(pairOf),
    faults: values.fault.map(faultOf),
    ...workersOf(values),
  };
  for (const name of ["horizon", "after", "settle"]) {
    if (values[name] !== undefined) options[name] = moment(`--${name}`, values[name]);
  }
  for (const [name, least] of Object.entries({ seeds: 1, remedies: 0 })) {
    if (values[name] !== undefined) options[name] = number(`--${name}`, values[name], least);
  }
  return options;
}

const workersOf = ({ workers }) =>
  workers === undefined ? {} : { workers: number("--workers", workers, 0) };

/** The text of the cluster: a scenario, or manifests of one or several files. */
async function clusterOf(inputs, values) {
  const texts = [];
  for (const input of inputs) {
    if (typeof input !== "string") texts.push(input);
    else texts.push({ file: named(input), text: await readText(input), from: input });
  }
  const flags = pairs(values.flag, "--flag");
  const simulator = { ...release(values.release), controllerManagerFlags: flags };
  const scenario = texts.find(({ text }) => typeof text === "string" && isScenario(text));
  if (scenario) {
    if (texts.length > 1) {
      throw usage("a scenario is a cluster by itself; name its other files in `objects.files`");
    }
    const { file, text, from } = scenario;
    const files = await filesBeside(from ?? file, text);
    return { manifests: text, isScenario: true, simulator: { ...simulator, file, files } };
  }
  if (texts.length === 1) {
    const [{ file, text }] = texts;
    return { manifests: text, simulator: { ...simulator, file } };
  }
  const { objects, placed } = objectsOf(texts);
  return { manifests: objects, simulator, placed };
}

/** How wide the bar is. */
const BAR = 30;

/** A bar of progress where somebody looks at it. */
function bar() {
  if (!process.stderr.isTTY) return { show() {}, clear() {} };
  let last = 0;
  return {
    show({ done, planned }) {
      if (done < planned && Date.now() - last < 100) return;
      last = Date.now();
      const full = planned ? Math.round((BAR * done) / planned) : 0;
      const line = `${"█".repeat(full)}${"░".repeat(BAR - full)} ${done} of ${planned} runs`;
      process.stderr.write(`\r${line}\x1b[K`);
    },
    clear: () => process.stderr.write("\r\x1b[K"),
  };
}

/** Makes the runs. Ctrl+C breaks them off and leaves those that are made. */
async function makeRuns(cluster, options, told = {}) {
  const { manifests, isScenario: scenario, simulator, placed = (answer) => answer } = cluster;
  const progress = bar();
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
    process.once("SIGINT", () => process.exit(130));
  };
  process.once("SIGINT", stop);
  try {
    const { signal } = controller;
    const settings = { isScenario: scenario, simulator, signal, onProgress: progress.show };
    const made = placed(await runs(manifests, { ...options, ...settings }));
    progress.clear();
    if (!made.ok) {
      const [first] = made.errors;
      const option = first.code === "invalidConfiguration" && !first.file && first.path;
      if (option) throw usage(`report: ${option}: ${bare(first)}`);
    }
    ok(made);
    warn(made.warnings);
    tell({ ...made.imported, ...told }, told.release ? undefined : simulator.release);
    return { ...made, interrupted: controller.signal.aborted };
  } catch (error) {
    // What an option says wrongly is found where the engine reads it.
    const [, option, why] = /^report\.(\w+)(?:\[\d+\])?: (.*)$/s.exec(error.message) ?? [];
    if (error instanceof TypeError && option) throw usage(`--${option}: ${why}`);
    throw error;
  } finally {
    process.off("SIGINT", stop);
    progress.clear();
  }
}

/** What must be so before any rule is asked: a report of nothing passes no gate. */
const WHOLE = "the report is whole";

/** Writes what is asked for, and says which rules are broken and why the report is not whole. */
async function write({ outline, results, timelineSvg, interrupted }, values, rules, reasons = []) {
  const { ok: _, ...report } = ok(merge(outline, results));
  const failures = [
    ...(interrupted ? ["it was interrupted"] : []),
    ...reasons,
    ...report.missing,
  ].map((reason) => ({ rule: WHOLE, text: `no score: ${reason}` }));
  failures.push(...rules.flatMap((rule) => broken(rule, report)));
  if (values.html !== undefined) {
    const pictures = timelineSvg ? await picturesOf(report, timelineSvg) : [];
    try {
      writeFileSync(values.html, html(report, pictures));
    } catch (error) {
      if (error.code === undefined) throw error;
      throw new Stop(`${values.html}: error: ${systemText(error)}`, EXIT.failed);
    }
  }
  if (values.json) console.log(JSON.stringify(report));
  else if (values.markdown) process.stdout.write(markdown(report));
  else if (values.junit) process.stdout.write(junit(report, rules, failures));
  else if (values.html === undefined) process.stdout.write(terminal(report, { bold, dim }));
  for (const { text } of failures) console.error(`failed: ${text}`);
  return failures.length > 0 ? EXIT.failed : EXIT.ok;
}

/** How many findings are drawn. */
const PICTURES = 5;

async function picturesOf({ findings }, timelineSvg) {
  const pictures = [];
  const drawn = findings.filter(({ subject }) => subject).slice(0, PICTURES);
  for (const { subject, run, what } of drawn) {
    pictures.push({ what, svg: await timelineSvg(run, subject) });
  }
  return pictures;
}
