// A worker of a report in a browser. It listens before it loads the engine, so that no message is
// lost, and has no top-level await, which a worker that a bundler writes as a script cannot have.

import init, { ReportPlan } from "../dist/glue.js";

import { answering, server } from "./core.js";

const url = new URL("../dist/taintlab_bg.wasm", import.meta.url);
const loaded = init({ module_or_path: url }).then(() => server(ReportPlan));
const answer = answering(loaded, (message) => postMessage(message));
onmessage = ({ data }) => answer(data);
