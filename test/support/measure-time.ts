import { appendFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect } from "vitest";
import { childCpuMs, cpuStopwatch } from "./cpu-time.ts";
import { root } from "./root.ts";
import { timesFile } from "./times-file.ts";

// Runs before each test file, also before its modules are loaded. Programs that a test starts count once they have ended.
const usedMs = cpuStopwatch();
const startMs = Date.now();
const childrenBefore = childCpuMs();

afterAll(() => {
  const file = path.relative(root, expect.getState().testPath!).replaceAll(path.sep, "/");
  const times = {
    file,
    ms: Math.round(usedMs()),
    childMs: childCpuMs() - childrenBefore,
    wallMs: Date.now() - startMs,
  };
  appendFileSync(timesFile, `${JSON.stringify(times)}\n`);
});
