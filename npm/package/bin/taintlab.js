#!/usr/bin/env node
// The command `taintlab`. What Kubernetes does, the engine says; here is only what is read and
// written.

import { embed } from "./embed.js";
import { explain } from "./explain.js";
import { HELP, USAGE } from "./help.js";
import { main } from "./main.js";
import { run } from "./run.js";
import { test } from "./test.js";

await main("taintlab", { run, test, explain, embed }, USAGE, HELP);
