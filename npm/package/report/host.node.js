// Workers of Node, and of Deno.

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** A worker, of which the one is told answers, and the other that it does not work. */
export function connect(answered, failed) {
  const worker = new Worker(new URL("./worker.node.js", import.meta.url));
  worker.on("message", answered);
  worker.on("error", failed);
  worker.on("messageerror", failed);
  worker.on("exit", () => failed(new Error("the worker has ended")));
  return worker;
}

export const cores = availableParallelism;
