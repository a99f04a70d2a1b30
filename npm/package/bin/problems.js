// What is said of mistakes, and how a program of the command line ends.

/** Everything as it should be; a test failed, or a file is wrong; the command line is wrong. */
export const EXIT = { ok: 0, failed: 1, usage: 2 };

/** A mistake that is reported and ends the program. */
export class Stop extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** A mistake on the command line. */
export const usage = (message) => new Stop(`error: ${message}`, EXIT.usage);

/** A problem as compilers print it: file:line:column: path: message. */
export function problemText({ file, line, column, path, message, help }, severity = "error") {
  const place = file && line ? `${file}:${line}:${column}: ` : file ? `${file}: ` : "";
  const where = path && !message.startsWith(path) ? `${path}: ` : "";
  return `${place}${severity}: ${where}${message}${help ? `\n  help: ${help}` : ""}`;
}

/** The value of an answer that can be a failure. */
export function ok(answer) {
  if (answer.ok) return answer;
  throw new Stop(answer.errors.map((error) => problemText(error)).join("\n"), EXIT.failed);
}

export function warn(warnings) {
  for (const warning of warnings) console.error(problemText(warning, "warning"));
}

/** What the operating system says, in words. */
const SYSTEM = {
  EACCES: "permission denied",
  EISDIR: "this is a folder",
  ENOENT: "no such file",
  ENOSPC: "no space left on the device",
};

export const systemText = (error) => SYSTEM[error.code] ?? error.message;
