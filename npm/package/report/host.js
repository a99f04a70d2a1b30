// Workers of browsers, and of whatever else has them.

/** A worker, of which the one is told answers, and the other that it does not work. */
export function connect(answered, failed) {
  // As bundlers look for it.
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => answered(data);
  // What cannot be loaded has no message.
  worker.onerror = ({ message }) => failed(new Error(message || "the worker cannot be loaded"));
  worker.onmessageerror = () => failed(new Error("an answer of the worker cannot be read"));
  return worker;
}

export const cores = () => globalThis.navigator?.hardwareConcurrency ?? 1;
