import { rmSync } from "node:fs";
import path from "node:path";
import { root } from "./root.ts";

/** Where a run of the tests writes the processor time of each file, one JSON line each. */
export const timesFile = path.join(root, "node_modules/.plinth-times.jsonl");

/** Called once before a run. */
export function setup(): void {
  rmSync(timesFile, { force: true });
}
