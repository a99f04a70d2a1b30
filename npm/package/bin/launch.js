// The command is a native program, which comes as an optional dependency for this platform.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

const { platform, arch, env, argv } = process;

/** The native program: that of TAINTLAB_BINARY, or the one that was installed along. */
function binary() {
  if (env.TAINTLAB_BINARY) return env.TAINTLAB_BINARY;
  const name = `@taintlab/${platform}-${arch}`;
  const file = platform === "win32" ? "taintlab.exe" : "taintlab";
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch {
    console.error(
      `error: the package ${name} is not installed, which has the program for this platform\n` +
        "  help: install taintlab without --omit=optional; where there is no such package, build the\n" +
        "  program with `cargo install taintlab`, and name it in TAINTLAB_BINARY",
    );
    process.exit(1);
  }
}

/** Runs the program under this name, with the words of the command line. */
export function launch(name) {
  const program = binary();
  const child = spawn(program, argv.slice(2), { argv0: name, stdio: "inherit" });
  child.on("error", ({ message }) => {
    console.error(`error: \`${program}\` cannot be run: ${message}`);
    process.exit(1);
  });
  // A terminal sends Ctrl+C to both: the program decides how it ends.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
