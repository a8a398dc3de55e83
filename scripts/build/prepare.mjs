// npm runs this after an installation from git, before packing, and after `npm ci` in a checkout. It builds dist/ if it is stale.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { sourceStamp } from "./stamp.mjs";

const stamp = "dist/.stamp";
const isCurrent = existsSync(stamp) && readFileSync(stamp, "utf8") === sourceStamp();
// Without the development dependencies (`npm ci --omit=dev`) nothing can be built.
if (!isCurrent && existsSync("node_modules/esbuild")) {
  const { status } = spawnSync(process.execPath, ["scripts/build/build.mjs"], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
