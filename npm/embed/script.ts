// The same as one file for a `<script>` tag. The engine is beside it.

import { TaintLab, define } from "./element.js";
import { fromFolder, setLoader } from "./engine.js";

const script = document.currentScript as HTMLScriptElement | null;
const base = new URL(".", script?.src || document.baseURI);
TaintLab.base = base;
setLoader(fromFolder(base));
define();
