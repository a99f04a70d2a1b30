#!/usr/bin/env node
// The plugin `kubectl taintlab`: what would happen to the cluster of the current context, which is
// read by `kubectl get` and never written.

import { explainPod } from "./explain.js";
import { CLUSTER_HELP, CLUSTER_USAGE } from "./help.js";
import { main } from "./main.js";
import { reportCluster } from "./report.js";
import { runCluster } from "./run.js";
import { when } from "./when.js";

const COMMANDS = { run: runCluster, explain: explainPod, when, report: reportCluster };

await main("kubectl taintlab", COMMANDS, CLUSTER_USAGE, CLUSTER_HELP);
