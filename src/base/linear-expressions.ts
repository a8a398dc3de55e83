import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

/**
 * The library of regular expressions that take time in proportion to the text, in the syntax of RE2. It is loaded (some 7 ms) when
 * the first expression of somebody else's is compiled, which can't wait for an import.
 */
export function linearExpressions(): typeof RE2JS {
  const require = createRequire(import.meta.url);
  return (require("re2js") as typeof import("re2js")).RE2JS;
}
