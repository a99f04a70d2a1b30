#!/usr/bin/env node
// The command `taintlab`. What Kubernetes does, the engine says; here is only what is read and
// written.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

import * as taintlab from "../dist/node.js";

/** Everything as it should be; a test failed, or a file is wrong; the command line is wrong. */
const EXIT = { ok: 0, failed: 1, usage: 2 };

const USAGE = `What Kubernetes evicts, when and why.

Usage: taintlab <command> [options]

Commands:
  run FILE…      Simulate a cluster and print what happens
  test FILE…     Run scenarios and check what they expect
  explain        Explain how tolerations answer taints

Options:
  -h, --help     Print this, or the help of a command
  --version      Print the version

Exit codes: 0 all is well; 1 a file is wrong or a test failed; 2 the command line is wrong.
`;

const HELP = {
  run: `Simulate a cluster and print what happens.

Usage: taintlab run FILE… [options]

FILE is a scenario (taintlab/v1), or manifests in YAML or JSON, for example the output of
\`kubectl get nodes,pods -A -o yaml\`. Several files of manifests make one cluster; - is standard
input.

Options:
  --until TIME         How far to go: 5m0s, 90s, or a number of seconds. Unless given, until
                       nothing more happens; a day at most
  --release RELEASE    The release of Kubernetes, for example 1.34
  --flag NAME=VALUE    A flag of kube-controller-manager; may be repeated
  --kubectl LINE       A line of kubectl, for example 'taint node a x:NoExecute'; what it prints
                       goes to standard error; may be repeated
  --command JSON       A command as in the steps of scenarios, for example
                       '{"taint": {"node": "a", "taint": {"key": "x", "effect": "NoExecute"}}}';
                       may be repeated
  --at TIME            When the --kubectl or --command before it happens; 0s unless
                       given
  --all                Print every event, not only what a cluster would show
  --json               Print the events as JSON, one a line; times are milliseconds
`,
  test: `Run scenarios and check what they expect.

Usage: taintlab test FILE… [options]

Options:
  --reporter NAME      spec (the default), tap or junit
  --release RELEASE    Another release than the one that the scenarios name

Exit codes: 0 every expectation was met; 1 one was not, or a file is wrong; 2 the command line is
wrong.
`,
  explain: `Explain how tolerations answer taints.

Usage: taintlab explain --taint TAINT… --toleration TOLERATION… [options]

Options:
  --taint TAINT            As kubectl taint takes it: key=value:NoExecute; may be repeated
  --toleration TOLERATION  key=value:NoExecute for the operator Equal, key:NoExecute for Exists, *
                           for everything; @SECONDS at the end for tolerationSeconds, as in
                           node.kubernetes.io/unreachable:NoExecute@300. Or JSON. May be repeated
  --release RELEASE        The release of Kubernetes, for example 1.34
  --json                   Print the explanation as JSON
`,
};

/** A mistake that is told and ends the program. */
class Stop extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

const usage = (message) =>
  new Stop(`error: ${message}\nTry \`taintlab --help\`.`, EXIT.usage);

const colours = {
  on: (stream) =>
    Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== "dumb",
};
const paint = (code) => (text) => (colours.on(process.stdout) ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, red, green, dim] = [1, 31, 32, 2].map(paint);

/** A problem as compilers print it: file:line:column: path: message. */
function problemText({ file, line, column, path, message, help }, severity = "error") {
  const place = file && line ? `${file}:${line}:${column}: ` : file ? `${file}: ` : "";
  const where = path && !message.startsWith(path) ? `${path}: ` : "";
  return `${place}${severity}: ${where}${message}${help ? `\n  help: ${help}` : ""}`;
}

const failed = (errors) =>
  new Stop(errors.map((error) => problemText(error)).join("\n"), EXIT.failed);

/** The value of an answer that can be a failure. */
function ok(answer) {
  if (!answer.ok) throw failed(answer.errors);
  return answer;
}

function warn(warnings) {
  for (const warning of warnings) console.error(problemText(warning, "warning"));
}

function readText(file) {
  try {
    const bytes = readFileSync(file === "-" ? 0 : file);
    const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    const why =
      error.code === "ENOENT"
        ? "no such file"
        : error.code === "EISDIR"
          ? "this is a folder"
          : error instanceof TypeError
            ? "this is not a text in UTF-8"
            : error.message;
    throw new Stop(`${file}: error: ${why}`, EXIT.failed);
  }
}

const isScenario = (text) => /^\s*["']?(kind["']?\s*:\s*["']?Scenario\b|apiVersion["']?\s*:\s*["']?taintlab\/)/m.test(text);

/** The texts of the files that lie beside a scenario and that it names. */
function filesBeside(file, text) {
  const files = {};
  const folder = file === "-" ? "." : dirname(file);
  // The engine says which names it misses, so that the list is not read twice.
  for (;;) {
    const answer = taintlab.testScenario(text, { file, files, until: 0 });
    const missing = answer.ok
      ? undefined
      : answer.errors.map(({ message }) => /`options\.files` has no text for `(.+)`/.exec(message)?.[1]).find(Boolean);
    if (missing === undefined) return files;
    files[missing] = readText(resolve(folder, missing));
  }
}

/** `name=value` pairs. */
function pairs(list, option) {
  return Object.fromEntries(
    list.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw usage(`${option}: expected name=value, found \`${pair}\``);
      return [pair.slice(0, at).replace(/^--/, ""), pair.slice(at + 1)];
    }),
  );
}

/** A duration: text as it is, a bare number in seconds. */
const duration = (text) => (/^\d+(\.\d+)?$/.test(text) ? `${text}s` : text);

function parse(config, args) {
  try {
    const options = { help: { type: "boolean", short: "h" }, ...config };
    return parseArgs({ args, options, allowPositionals: true, tokens: true });
  } catch (error) {
    throw usage(error.message.split("\n")[0].replace(/\.$/, ""));
  }
}

/** The commands of the line with their times: each --at belongs to the command before it. */
function commandsOf(tokens) {
  const commands = [];
  for (const { kind, name, value } of tokens) {
    if (kind !== "option") continue;
    if (name === "command" || name === "kubectl") commands.push({ kind: name, text: value, at: "0s" });
    if (name === "at") {
      const last = commands.at(-1);
      if (!last) throw usage("--at says when the command before it happens, and there is none");
      last.at = duration(value);
    }
  }
  return commands.map((command) => {
    if (command.kind === "kubectl") return command;
    try {
      return { ...command, value: JSON.parse(command.text) };
    } catch (error) {
      throw usage(`--command: this is not JSON: ${error.message}`);
    }
  });
}

/** How long after the start a moment is, as Kubernetes writes durations. */
function clock(millis) {
  if (millis < 1000) return `${millis}ms`.replace(/^0ms$/, "0s");
  const seconds = Math.floor(millis / 1000);
  const [h, m] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = Number((millis / 1000 - h * 3600 - m * 60).toFixed(9));
  return `${h ? `${h}h` : ""}${h || m ? `${m}m` : ""}${rest}s`;
}

/** What a cluster would show: Kubernetes' Events, and what happens to nodes and pods. */
const SHOWN = new Set([
  "eventRecorded",
  "nodeConditionChanged",
  "nodeTaintsChanged",
  "podDeleted",
  "heartbeatLost",
  "heartbeatResumed",
  "zoneStateChanged",
]);

const subject = (event) =>
  event.pod ?? event.involvedObject?.pod ?? event.node ?? event.involvedObject?.node ?? event.zone ?? "";

function printTable(head, rows) {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  );
  const line = (cells) =>
    cells.map((cell, column) => cell.padEnd(widths[column])).join("   ").trimEnd();
  console.log(bold(line(head)));
  for (const row of rows) console.log(line(row));
}

function simulatorOf(files, { release, flags }) {
  const texts = files.map((file) => ({ file, text: readText(file) }));
  const scenario = texts.find(({ text }) => isScenario(text));
  if (scenario) {
    if (texts.length > 1) {
      throw usage("a scenario runs by itself; name its other files in `objects.files`");
    }
    const { file, text } = scenario;
    const beside = filesBeside(file, text);
    const options = { file, files: beside, controllerManagerFlags: flags, ...(release && { release }) };
    return ok(taintlab.Simulator.fromScenario(text, options));
  }
  const options = { controllerManagerFlags: flags, ...(release && { release }) };
  const [first] = texts;
  if (texts.length === 1) {
    return ok(taintlab.Simulator.fromManifests(first.text, { ...options, file: first.file }));
  }
  const read = texts.map(({ file, text }) => ok(taintlab.parseManifests(text, { file })));
  const objects = read.flatMap((part) => [
    ...part.nodes,
    ...part.pods,
    ...part.workloads,
    ...part.budgets,
    ...part.others,
  ]);
  return ok(taintlab.Simulator.fromManifests(objects, options));
}

function run(args) {
  const { values, positionals, tokens } = parse(
    {
      until: { type: "string" },
      release: { type: "string" },
      flag: { type: "string", multiple: true, default: [] },
      command: { type: "string", multiple: true },
      kubectl: { type: "string", multiple: true },
      at: { type: "string", multiple: true },
      all: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (values.help) return help("run");
  if (positionals.length === 0) throw usage("run: which file?");
  const flags = pairs(values.flag, "--flag");
  const commands = commandsOf(tokens);
  const { simulator, warnings } = simulatorOf(positionals, { release: values.release, flags });
  warn(warnings);
  for (const command of commands) {
    if (command.kind === "kubectl") runKubectl(simulator, command);
    else ok(simulator.command(command.value, command.at));
  }
  ok(values.until === undefined ? simulator.runToEnd() : simulator.advanceTo(duration(values.until)));
  print(simulator, values);
  simulator.free();
  return EXIT.ok;
}

function runKubectl(simulator, { text, at }) {
  const answer = ok(simulator.kubectl(text, at));
  if (answer.stdout) process.stderr.write(answer.stdout);
  if (answer.stderr) process.stderr.write(answer.stderr);
  if (answer.exitCode !== 0) throw new Stop("", EXIT.failed);
}

function print(simulator, { json, all }) {
  const rows = [];
  for (;;) {
    const events = simulator.events({ text: !json });
    if (events.length === 0) break;
    for (const event of events) {
      if (json) console.log(JSON.stringify(event));
      else if (all || SHOWN.has(event.type)) {
        const reason = event.reason ?? event.type;
        rows.push([clock(event.at), subject(event), reason, event.text]);
      }
    }
  }
  if (!json) {
    printTable(["TIME", "OBJECT", "REASON", "WHAT"], rows);
    console.log(dim(`until ${clock(simulator.now)}`));
  }
}

const REPORTERS = {
  spec(results) {
    for (const { file, title, outcomes, errors } of results) {
      console.log(bold(`${file}${title ? `: ${title}` : ""}`));
      for (const error of errors) console.log(`  ${red("✗")} ${problemText(error)}`);
      for (const { expectation, passed, failure } of outcomes) {
        console.log(`  ${passed ? green("✓") : red("✗")} ${expectation}`);
        if (failure) console.log(`    ${problemText(failure)}`);
      }
    }
    const all = results.flatMap(checks);
    const bad = all.filter(({ failure }) => failure).length;
    console.log(`${all.length - bad} passed, ${bad} failed`);
  },
  tap(results) {
    const all = results.flatMap((result) => checks(result).map((check) => ({ ...result, ...check })));
    console.log("TAP version 14");
    console.log(`1..${all.length}`);
    all.forEach(({ file, name, failure }, index) => {
      const title = `${file}: ${name}`.replaceAll("\\", "\\\\").replaceAll("#", "\\#");
      console.log(`${failure ? "not ok" : "ok"} ${index + 1} - ${title}`);
      if (failure) {
        const { message, line, column } = failure;
        console.log(`  ---\n  message: ${JSON.stringify(message)}\n  at: ${JSON.stringify(`${file}:${line ?? 1}:${column ?? 1}`)}\n  ...`);
      }
    });
  },
  junit(results) {
    const xml = (text) =>
      text.replace(/[<>&"]/g, (c) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[c]);
    console.log('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>');
    for (const result of results) {
      const all = checks(result);
      const bad = all.filter(({ failure }) => failure).length;
      console.log(`  <testsuite name="${xml(result.file)}" tests="${all.length}" failures="${bad}">`);
      for (const { name, failure } of all) {
        const open = `    <testcase classname="${xml(result.file)}" name="${xml(name)}"`;
        if (!failure) console.log(`${open}/>`);
        else {
          const text = problemText(failure);
          console.log(`${open}><failure message="${xml(failure.message)}">${xml(text)}</failure></testcase>`);
        }
      }
      console.log("  </testsuite>");
    }
    console.log("</testsuites>");
  },
};

/** What was checked of a file: its expectations, or that it can be run. */
function checks({ outcomes, errors }) {
  const wrong = errors.map((error) => ({ name: "the scenario can be run", failure: error }));
  return [...wrong, ...outcomes.map(({ expectation, failure }) => ({ name: expectation, failure }))];
}

function test(args) {
  const { values, positionals } = parse(
    { reporter: { type: "string", default: "spec" }, release: { type: "string" } },
    args,
  );
  if (values.help) return help("test");
  if (positionals.length === 0) throw usage("test: which file?");
  const reporter = Object.hasOwn(REPORTERS, values.reporter) && REPORTERS[values.reporter];
  if (!reporter) {
    throw usage(`--reporter: expected spec, tap or junit, found \`${values.reporter}\``);
  }
  const results = positionals.map((file) => {
    try {
      const text = readText(file);
      const files = filesBeside(file, text);
      const options = { file, files, ...(values.release && { release: values.release }) };
      const answer = taintlab.testScenario(text, options);
      if (!answer.ok) return { file, title: "", outcomes: [], errors: answer.errors };
      warn(answer.warnings);
      return { file, title: answer.title, outcomes: answer.outcomes, errors: [] };
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      const message = error.message.replace(`${file}: error: `, "");
      return { file, title: "", outcomes: [], errors: [{ file, message, path: "" }] };
    }
  });
  reporter(results);
  return results.flatMap(checks).some(({ failure }) => failure) ? EXIT.failed : EXIT.ok;
}

/** A toleration in the short form of the command line, or as JSON. */
function tolerationOf(text) {
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw usage(`--toleration: this is not JSON: ${error.message}`);
    }
  }
  const [, body, seconds] = /^(.*?)(?:@(-?\d+))?$/s.exec(text);
  const time = seconds === undefined ? {} : { tolerationSeconds: Number(seconds) };
  const [pair, effect, more] = body.split(":");
  if (more !== undefined) throw usage(`--toleration: expected key=value:effect, found \`${text}\``);
  const end = { ...(effect && { effect }), ...time };
  if (pair === "*") return { operator: "Exists", ...end };
  const at = pair.indexOf("=");
  if (at < 0) return { key: pair, operator: "Exists", ...end };
  return { key: pair.slice(0, at), operator: "Equal", value: pair.slice(at + 1), ...end };
}

const WHY = {
  effect: "another effect",
  key: "another key",
  value: "another value",
  unknownOperator: "an operator that Kubernetes does not know",
  comparisonOperatorsOff: "the operators Lt and Gt are off in this release",
  tolerationNotInteger: "its value is not a number",
  taintNotInteger: "the taint's value is not a number",
  notLess: "the taint's number is not less",
  notGreater: "the taint's number is not greater",
};

const VERDICT = {
  noNoExecuteTaints: () => "a running pod stays: there is no NoExecute taint",
  toleratedForever: () => "a running pod stays: every NoExecute taint is tolerated for ever",
  evictedAfter: ({ after, toleration }) =>
    `a running pod is evicted after ${clock(after)}: toleration ${toleration + 1} limits the time`,
  notTolerated: ({ taint }) => `a running pod is evicted at once: nothing tolerates taint ${taint + 1}`,
  toleratedNotAtAll: ({ toleration }) =>
    `a running pod is evicted at once: toleration ${toleration + 1} tolerates for no time`,
};

const tolerationText = ({ key = "", operator = "Equal", value = "", effect = "", tolerationSeconds }) =>
  `${key || "every key"} ${operator}${value ? ` ${value}` : ""}, ${effect || "every effect"}` +
  (tolerationSeconds === undefined ? "" : `, ${tolerationSeconds} s`);

function explain(args) {
  const { values } = parse(
    {
      taint: { type: "string", multiple: true, default: [] },
      toleration: { type: "string", multiple: true, default: [] },
      release: { type: "string" },
      json: { type: "boolean", default: false },
    },
    args,
  );
  if (values.help) return help("explain");
  if (values.taint.length === 0) throw usage("explain: which --taint?");
  const taints = values.taint.map((text) => ok(taintlab.parseTaint(text)).taint);
  const tolerations = values.toleration.map(tolerationOf);
  let answer;
  try {
    const options = values.release && { release: values.release };
    answer = taintlab.matchTolerations(taints, tolerations, options);
  } catch (error) {
    if (error instanceof TypeError) throw usage(error.message);
    throw error;
  }
  if (values.json) {
    console.log(JSON.stringify(answer, undefined, 2));
    return EXIT.ok;
  }
  answer.taints.forEach(({ taint, consequence, outcomes }, index) => {
    const value = taint.value ? `=${taint.value}` : "";
    console.log(bold(`taint ${index + 1}: ${taint.key}${value}:${taint.effect}: ${words(consequence)}`));
    outcomes.forEach((outcome, position) => {
      const text = tolerationText(answer.tolerations[position]);
      console.log(`  toleration ${position + 1} (${text}): ${outcomeText(outcome)}`);
    });
  });
  console.log(VERDICT[answer.verdict.verdict](answer.verdict));
  return EXIT.ok;
}

const words = (name) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function outcomeText(outcome) {
  if (outcome.outcome === "used") return green("tolerates it");
  if (outcome.outcome === "shadowed") return `tolerates it, but toleration ${outcome.by + 1} comes first`;
  return `does not: ${WHY[outcome.test]}`;
}

function help(command) {
  process.stdout.write(command ? HELP[command] : USAGE);
  return EXIT.ok;
}

function main([command, ...args]) {
  const commands = { run, test, explain };
  if (Object.hasOwn(commands, command ?? "")) return commands[command](args);
  if (command === undefined) {
    process.stderr.write(USAGE);
    return EXIT.usage;
  }
  if (command === "help" && (args.length === 0 || Object.hasOwn(HELP, args[0]))) return help(args[0]);
  if (command === "-h" || command === "--help") return help();
  if (command === "--version") {
    console.log(taintlab.version());
    return EXIT.ok;
  }
  throw usage(`there is no command \`${command}\``);
}

// A reader such as `head` may go before all is written.
process.stdout.on("error", (error) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(EXIT.ok);
});

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (error instanceof TypeError && !(error instanceof Stop) && /^options\.|^command/.test(error.message)) {
    console.error(`error: ${error.message}`);
    process.exitCode = EXIT.usage;
  } else if (error instanceof Stop) {
    if (error.message) console.error(error.message);
    process.exitCode = error.code;
  } else {
    throw error;
  }
}
