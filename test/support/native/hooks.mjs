// Hooks of Node's loader for TypeScript of the project.
import { fileURLToPath } from "node:url";
import { compiled, isCompiled } from "./compile.mjs";

/** Hook for `module.register`. */
export async function load(url, context, nextLoad) {
  return moduleAt(url) ?? nextLoad(url, context);
}

/** Returns the module at a URL; undefined if it is no TypeScript of the project. */
export function moduleAt(url) {
  if (!url.startsWith("file:")) return undefined;
  const file = fileURLToPath(url.replace(/[?#].*$/, ""));
  if (!isCompiled(file)) return undefined;
  return { format: "module", shortCircuit: true, source: compiled(file) };
}
