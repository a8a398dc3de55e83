/**
 * What `require("plinth")` gives: the classes and declarations at once, and a `createServer` that loads the server, which is
 * the same as that of `import`, when it is first called.
 */
export { StatusError } from "./base/status-error.ts";
export { WorkQueue } from "./controllers/work-queue.ts";
export { declareGroup } from "./kinds/declare-group.ts";
export { definitionOf } from "./kinds/definition-of.ts";
export { OptionsError } from "./server/options/options-error.ts";
type Face = typeof import("./index.ts");

export const createServer: Face["createServer"] = async (options) => {
  const { createServer: create } = await import("./index.ts");
  return create(options);
};
