#!/usr/bin/env node
// The command `taintlab`. What Kubernetes does, the engine says; here is only what is read and
// written.
//
// `process` is the global one: importing it by name would open standard input, which no command
// does unless it reads it.

import * as taintlab from "../dist/node.js";
import { explain } from "./explain.js";
import { HELP, USAGE } from "./help.js";
import { EXIT, Stop, systemText, usage } from "./problems.js";
import { command as report } from "./report.js";
import { run } from "./run.js";
import { test } from "./test.js";

const COMMANDS = { run, test, report, explain };

function help(command) {
  process.stdout.write(command ? HELP[command] : USAGE);
  return EXIT.ok;
}

async function main([command, ...args]) {
  if (Object.hasOwn(COMMANDS, command ?? "")) return COMMANDS[command](args, () => help(command));
  if (command === undefined) {
    process.stderr.write(USAGE);
    return EXIT.usage;
  }
  if (command === "help" && (args.length === 0 || Object.hasOwn(HELP, args[0])))
    return help(args[0]);
  if (command === "-h" || command === "--help") return help();
  if (command === "--version") {
    console.log(taintlab.version());
    return EXIT.ok;
  }
  throw usage(`there is no command \`${command}\``);
}

// A reader such as `head` may go before all is written.
process.stdout.on("error", (error) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  console.error(`error: standard output cannot be written: ${systemText(error)}`);
  process.exit(EXIT.failed);
});
// Nobody is left to be told.
process.stderr.on("error", () => {});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  if (error.message) console.error(error.message);
  process.exitCode = error.code;
}
