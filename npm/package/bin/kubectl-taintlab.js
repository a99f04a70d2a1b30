#!/usr/bin/env node
// The plugin `kubectl taintlab`.

import { launch } from "./launch.js";

launch("kubectl-taintlab");
