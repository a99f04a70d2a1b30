// A worker of a report: in Node, and in whatever has the workers of browsers.

import { server } from "./core.js";

const calls = server();
const isNode = typeof process === "object" && Boolean(process.versions?.node);
const port = isNode
  ? (await import(/* webpackIgnore: true */ "node:worker_threads")).parentPort
  : globalThis;
const answer = ({ id, method, args }) => {
  try {
    port.postMessage({ id, value: calls[method](...args) });
  } catch (error) {
    port.postMessage({ id, error: String(error?.message ?? error) });
  }
};
if (isNode) port.on("message", answer);
else port.onmessage = ({ data }) => answer(data);
