import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

/**
 * Loads RE2, a library of regular expressions that match in linear time. It is loaded (about 7 ms) when the first expression of a
 * client is compiled; callers are synchronous, so it can't be imported dynamically.
 */
export function linearExpressions(): typeof RE2JS {
  const require = createRequire(import.meta.url);
  return (require("re2js") as typeof import("re2js")).RE2JS;
}
