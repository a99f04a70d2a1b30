// A worker of a report in Node.

import { parentPort } from "node:worker_threads";

import { ReportPlan } from "taintlab";

import { answering, server } from "./core.js";

parentPort.on(
  "message",
  answering(server(ReportPlan), (message) => parentPort.postMessage(message)),
);
