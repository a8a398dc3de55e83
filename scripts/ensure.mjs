// Makes a checkout ready to run: installs what the lock file names and builds, each only when it is out of date.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { lockStamp, sourceStamp } from "./build/stamp.mjs";

const [major] = process.versions.node.split(".").map(Number);
if (major < 20) {
  console.error(`plinth needs Node 20 or newer; this is ${process.version}`);
  process.exit(1);
}

const installedStamp = "node_modules/.plinth-lock";
if (!matches(installedStamp, lockStamp())) {
  run("npm", ["ci", "--no-audit", "--no-fund"], "installing");
  writeFileSync(installedStamp, lockStamp());
}
if (!matches("dist/.stamp", sourceStamp())) run(process.execPath, ["scripts/build/build.mjs"], "building");

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
