import { test } from "vitest";
import { checkShortRun, shortRunTimeoutMs } from "./short-run.ts";

test(
  "a server over an embedded store that is killed and frozen has a history without violations",
  () => checkShortRun({ engine: "lmdb", servers: 1, members: 0, seed: 1 }),
  shortRunTimeoutMs,
);
