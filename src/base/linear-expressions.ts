import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { estimateInstructions } from "./expression-size.ts";

/**
 * Compiles a regular expression in the syntax of RE2, which matches in linear time.
 *
 * @param maxInstructions larger programs are refused before they are built: a pattern of a few kilobytes can need seconds and a gigabyte.
 * @throws {Error} for an invalid or too large pattern, with a message for the client.
 */
export function compileLinear(pattern: string, maxInstructions: number): RE2JS {
  const instructions = estimateInstructions(pattern);
  if (instructions > maxInstructions) {
    throw new Error(
      `error parsing regexp: expression too large: about ${instructions} instructions, at most ${maxInstructions}`,
    );
  }
  return library().compile(pattern);
}

/** Loads the library (about 7 ms) when the first expression is compiled; callers are synchronous, so it can't be imported dynamically. */
function library(): typeof RE2JS {
  const require = createRequire(import.meta.url);
  return (require("re2js") as typeof import("re2js")).RE2JS;
}
