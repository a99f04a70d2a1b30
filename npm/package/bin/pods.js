// Which pod a command line means.

import { EXIT, Stop, usage } from "./problems.js";

/** `POD`, `pod/POD` or `NAMESPACE/POD`; else in the namespace of `-n` or the context. */
export function podNamed(command, positionals, namespace) {
  if (positionals.length !== 1) {
    const found = positionals.length === 0 ? "" : `, found ${positionals.length} names`;
    throw usage(`${command}: which pod? POD or NAMESPACE/POD${found}`);
  }
  const parts = positionals[0].replace(/^pods?\//, "").split("/");
  const [inside, name] = parts.length === 1 ? [namespace, parts[0]] : parts;
  if (parts.length > 2 || inside === "" || !name) {
    throw usage(`${command}: expected POD or NAMESPACE/POD, found \`${positionals[0]}\``);
  }
  return { namespace: inside, name };
}

/** How a pod is called. */
export const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;

export const notOnANode = (pod) =>
  new Stop(`error: the pod ${keyOf(pod)} has no node: nothing can evict it`, EXIT.failed);
