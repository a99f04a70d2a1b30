// The engine as plain wasm, for Node and for browsers.

/**
 * Runs a scenario in a fresh instance.
 *
 * @param {WebAssembly.Module} module the engine; it imports nothing
 * @param {Uint8Array} scenario its JSON
 * @returns {Promise<Uint8Array>} its events as JSON, one a line; or `error: ` and the reason
 */
export async function runScenario(module, scenario) {
  const { exports } = await WebAssembly.instantiate(module);
  const input = exports.allocate(scenario.length);
  new Uint8Array(exports.memory.buffer).set(scenario, input);
  const output = BigInt.asUintN(64, exports.run(input, scenario.length));
  const [address, length] = [Number(output >> 32n), Number(output & 0xffff_ffffn)];
  return new Uint8Array(exports.memory.buffer).slice(address, address + length);
}
