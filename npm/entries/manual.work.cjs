"use strict";
// Each export by its name, so that Node and TypeScript see them, the default one too.
Object.defineProperty(exports, "__esModule", { value: true });
const bundle = require("./manual.bundle.cjs");
