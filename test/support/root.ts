import path from "node:path";

/** The project's root folder. */
export const root = path.resolve(import.meta.dirname, "../..");

/** Options of Node with which a program that a test starts can import TypeScript; `npm test` has compiled it. */
export const typeScript = ["--import", path.join(root, "test/support/native/register.mjs")] as const;

/** The built program; `npm test` builds it. */
export const program = path.join(root, "dist/plinth.js");

/**
 * Returns options of Node that put off the optimization of functions. Node 22 and later have no such option.
 *
 * @param budget of a function before it is optimized; 67,584 by default in Node 20.
 */
export function lateOptimization(budget: number): readonly string[] {
  return Number.parseInt(process.versions.node) < 22 ? [`--interrupt-budget=${budget}`] : [];
}

/**
 * Options of Node for a program that a test starts. Most of its code runs only a few times: compiling it with optimization, which this puts off,
 * takes a sixth of the processor time of a start.
 */
export const shortRun = lateOptimization(1_000_000);
