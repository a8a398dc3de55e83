// Makes a checkout ready to run: installs what the lock file names and builds, each only when it is out of date.
// Without flags it installs what the build needs; --tools adds tools/package.json (tests, lint, benchmarks); --no-build builds nothing.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { lockStamp, sourceStamp } from "./build/stamp.mjs";

const [major] = process.versions.node.split(".").map(Number);
if (major < 20) {
  console.error(`plinth needs Node 20 or newer; this is ${process.version}`);
  process.exit(1);
}

const flags = new Set(process.argv.slice(2));
const unknown = [...flags].find((flag) => flag !== "--tools" && flag !== "--no-build");
if (unknown !== undefined) {
  console.error(`ensure: unknown flag ${unknown}; there are --tools and --no-build`);
  process.exit(2);
}

const installedStamp = "node_modules/.plinth-lock";
const withTools = lockStamp();
const withoutTools = `${withTools} without tools`;
// A checkout with the tools keeps them when the lock file changes.
const needsTools = flags.has("--tools") || existsSync("node_modules/vitest");
if (!matches(installedStamp, withTools) && (needsTools || !matches(installedStamp, withoutTools))) {
  const workspaces = needsTools ? [] : ["--workspaces=false"];
  run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", ...workspaces], "installing");
  writeFileSync(installedStamp, needsTools ? withTools : withoutTools);
}
if (!flags.has("--no-build") && !matches("dist/.stamp", sourceStamp()))
  run(process.execPath, ["scripts/build/build.mjs"], "building");

function matches(file, stamp) {
  return existsSync(file) && readFileSync(file, "utf8") === stamp;
}

function run(command, args, what) {
  console.error(`plinth: ${what} …`);
  const { status } = spawnSync(command, args, {
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    console.error(`plinth: ${what} failed`);
    process.exit(status || 1);
  }
}
