#!/usr/bin/env node
// The command `taintlab`.

import { launch } from "./launch.js";

launch("taintlab");
