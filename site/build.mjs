// Builds the site into site/dist/: installs what the lock file names, if that has changed, and renders the pages.
// With the argument "dev" it serves the pages and renders a page again when its file changes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = import.meta.dirname;
const stampFile = path.join(root, "node_modules/.plinth-lock");
const stamp = createHash("sha256")
  .update(readFileSync(path.join(root, "package-lock.json")))
  .digest("hex");

if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stampFile, stamp);
}

// The generator sends no usage data.
process.env.ASTRO_TELEMETRY_DISABLED = "1";
const { build, dev } = await import("astro");
if (process.argv[2] === "dev") await dev({ root });
else {
  rmSync(path.join(root, "dist"), { recursive: true, force: true });
  // Without entries that an earlier build has cached: they are recognized by the text of a page, not by that of the plugins.
  await build({ root, force: true });
}
