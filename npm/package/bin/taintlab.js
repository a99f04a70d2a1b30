#!/usr/bin/env node
// The command `taintlab`. What Kubernetes does, the engine says; here is only what is read and
// written.

import { embed } from "./embed.js";
import { explain } from "./explain.js";
import { HELP, USAGE } from "./help.js";
import { main } from "./main.js";
import { command as report } from "./report.js";
import { run } from "./run.js";
import { test } from "./test.js";

await main("taintlab", { run, test, report, explain, embed }, USAGE, HELP);
