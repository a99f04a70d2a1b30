// The page for iframes: one demo, chosen by the address, and its height told to the page around it.
//
// Both in the query and behind `#`: `scenario`, the name of an example; `src`, a recording or a
// scenario on the same site; `d`, a scenario in YAML, deflated, in base64url; `t`, the moment in
// seconds; and the attributes of the element.
"use strict";

/** More than this is not unpacked: it is no scenario that somebody wrote. */
const LIMIT = 2_000_000;

const given = new URLSearchParams(location.search);
for (const [name, value] of new URLSearchParams(location.hash.slice(1))) given.set(name, value);

const element = document.createElement("taint-lab");
element.setAttribute("loading", "eager");
element.setAttribute("editable", "");
for (const [name, value] of given) {
  if (name === "t") element.setAttribute("start-at", value);
  else if (name === "src" && new URL(value, location.href).origin !== location.origin) {
    document.body.append("The recording must be on the same site as this page.");
  } else if (name !== "d" && element.constructor.observedAttributes.includes(name)) {
    element.setAttribute(name, value);
  }
}

const data = given.get("d");
if (data === null) document.body.append(element);
else {
  unpack(data).then(
    (yaml) => {
      const script = document.createElement("script");
      script.type = "text/yaml";
      script.textContent = yaml;
      element.append(script);
      document.body.append(element);
    },
    () => document.body.append("This link is not complete: its scenario cannot be read."),
  );
}

async function unpack(text) {
  const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) =>
    c.charCodeAt(0),
  );
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let yaml = "";
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return yaml + decoder.decode();
    yaml += decoder.decode(value, { stream: true });
    if (yaml.length > LIMIT) throw new Error("too long");
  }
}

if (parent !== window) {
  new ResizeObserver(() => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    parent.postMessage({ type: "taintlab:height", height }, "*");
  }).observe(document.documentElement);
}
