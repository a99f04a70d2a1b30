// The words of the command line.

import { parseArgs } from "node:util";

import * as taintlab from "../dist/node.js";
import { ok, usage } from "./problems.js";

/** The options and files of a command. */
export function parse(config, args) {
  const options = { help: { type: "boolean", short: "h" }, ...config };
  try {
    return parseArgs({
      args: joined(args, options),
      options,
      allowPositionals: true,
      tokens: true,
    });
  } catch (error) {
    throw usage(error.message.split("\n")[0].replace(/\.$/, ""));
  }
}

/** `--flag --name=value` is a flag as its component writes it, and no option of this program. */
function joined(args, options) {
  const all = [];
  for (let index = 0; index < args.length; index++) {
    const [arg, next = ""] = [args[index], args[index + 1]];
    if (arg === "--") return all.concat(args.slice(index));
    const name = /^--([a-z0-9-]+)=/.exec(next)?.[1];
    if (arg === "--flag" && name !== undefined && !Object.hasOwn(options, name)) {
      all.push(`${arg}=${next}`);
      index++;
    } else {
      all.push(arg);
    }
  }
  return all;
}

/** The names of files. */
export function filesOf(positionals, command) {
  if (positionals.length === 0) throw usage(`${command}: which file?`);
  if (positionals.includes("")) {
    throw usage(`${command}: the name of a file is empty; is a variable of the shell not set?`);
  }
  if (positionals.filter((file) => file === "-").length > 1) {
    throw usage(`${command}: standard input, \`-\`, can be read once only`);
  }
  return positionals;
}

/** `name=value` pairs. */
export function pairs(list, option) {
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

/** A moment of `--at` or `--until`. */
export function moment(option, text) {
  const { simulator } = ok(taintlab.Simulator.fromManifests([], { nodeLifecycle: false }));
  const answer = given(option, () => simulator.advanceTo(duration(text)));
  simulator.free();
  if (!answer.ok) throw usage(`${option}: ${bare(answer.errors[0])}`);
  return duration(text);
}

/** The message of a problem without the place in this program where it came up. */
export const bare = ({ path, message }) =>
  message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;

/** Calls the engine with what an option gave: what is wrong with it is said of the option. */
export function given(option, call) {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const inside = error.message.replace(/^(options\.release|[a-z]+(\[\d+\])?)(\.|: )?/, "");
    throw usage(`${option}: ${inside}`);
  }
}

/** A release of Kubernetes that the engine knows. */
export function release(text) {
  if (text === undefined) return {};
  given("--release", () => taintlab.matchTolerations([], [], { release: text }));
  return { release: text };
}

/** A value in JSON. */
export function json(option, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${option}: this is not JSON: ${error.message}`);
  }
}

/** The commands of the line with their times: each --at belongs to the command before it. */
export function commandsOf(tokens) {
  const commands = [];
  for (const { kind, name, value } of tokens) {
    if (kind !== "option") continue;
    if (name === "kubectl") commands.push({ line: value, at: "0s" });
    if (name === "command") commands.push({ command: json("--command", value), at: "0s" });
    if (name === "at") {
      const last = commands.at(-1);
      if (!last) throw usage("--at says when the command before it happens, and there is none");
      last.at = moment("--at", value);
    }
  }
  return commands;
}
