// How a text stands in a link.

import { deflateRawSync } from "node:zlib";

export const pack = (text) => deflateRawSync(text, { level: 9 }).toString("base64url");
