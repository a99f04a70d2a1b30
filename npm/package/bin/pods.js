// Which pod a command line means.

import { EXIT, Stop, usage } from "./problems.js";

/** `POD`, `pod/POD` or `NAMESPACE/POD`; unless it says otherwise, in the namespace of `-n`. */
export function podNamed(command, positionals, namespace = "default") {
  if (positionals.length !== 1) {
    const found = positionals.length === 0 ? "" : `, found ${positionals.length} names`;
    throw usage(`${command}: which pod? POD or NAMESPACE/POD${found}`);
  }
  const parts = positionals[0].replace(/^pods?\//, "").split("/");
  const [inside, name] = parts.length === 1 ? [namespace, parts[0]] : parts;
  if (parts.length > 2 || !inside || !name) {
    throw usage(`${command}: expected POD or NAMESPACE/POD, found \`${positionals[0]}\``);
  }
  return { namespace: inside, name, key: `${inside}/${name}` };
}

/** That pod, as the API server shows it. */
export function podOf(simulator, { namespace, name }) {
  const pods = simulator.pods({ namespace });
  const pod = pods.find(({ metadata }) => metadata.name === name);
  if (pod !== undefined) return pod;
  const why = `pods "${name}" not found in the namespace ${namespace}`;
  throw new Stop(`error: ${why}`, EXIT.failed);
}

export const notOnANode = ({ key }) =>
  new Stop(`error: the pod ${key} has no node: nothing can evict it`, EXIT.failed);
