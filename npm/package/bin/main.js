// How a program of the command line begins and ends.
//
// `process` is the global one: importing it by name would open standard input, which no command
// does unless it reads it.

import * as taintlab from "../dist/node.js";
import { EXIT, Stop, systemText, usage } from "./problems.js";

/** Runs the command that the line names. */
export async function main(program, commands, text, helps) {
  // A reader such as `head` may go before all is written.
  process.stdout.on("error", (error) => {
    if (error.code === "EPIPE") process.exit(EXIT.ok);
    console.error(`error: standard output cannot be written: ${systemText(error)}`);
    process.exit(EXIT.failed);
  });
  // Nobody is left to be told.
  process.stderr.on("error", () => {});
  /** Of what is not foreseen the message is said, without where in this program it came up. */
  const said = (error) => {
    const text = `error: ${error?.message ?? error}`;
    const stop = error instanceof Stop ? error : new Stop(text, EXIT.failed);
    if (stop.message) console.error(stop.message);
    if (stop.code === EXIT.usage) console.error(`Try \`${program} --help\`.`);
    return stop.code;
  };
  // In a callback, or in an answer that nobody waits for.
  process.on("uncaughtException", (error) => process.exit(said(error)));
  try {
    process.exitCode = await run(commands, text, helps, process.argv.slice(2));
  } catch (error) {
    process.exitCode = said(error);
  }
}

async function run(commands, text, helps, [command, ...args]) {
  const help = (of) => {
    process.stdout.write(of ? helps[of] : text);
    return EXIT.ok;
  };
  if (Object.hasOwn(commands, command ?? "")) return commands[command](args, () => help(command));
  if (command === undefined) {
    process.stderr.write(text);
    return EXIT.usage;
  }
  if (command === "help" && (args.length === 0 || Object.hasOwn(helps, args[0]))) {
    return help(args[0]);
  }
  if (command === "-h" || command === "--help") return help();
  if (command === "--version") {
    console.log(taintlab.version());
    return EXIT.ok;
  }
  if (command === "help") throw usage(`there is no command \`${args[0]}\``);
  throw usage(`there is no command \`${command}\``);
}
