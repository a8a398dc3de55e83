import { appendFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect } from "vitest";
import { cpuStopwatch } from "./cpu-time.ts";
import { root } from "./root.ts";
import { timesFile } from "./times-file.ts";

// Runs before each test file, also before its modules are loaded. Processes that a test starts aren't counted.
const usedMs = cpuStopwatch();

afterAll(() => {
  const file = path.relative(root, expect.getState().testPath!).replaceAll(path.sep, "/");
  appendFileSync(timesFile, `${JSON.stringify({ file, ms: Math.round(usedMs()) })}\n`);
});
