// Builds dist/: the program and the library as bundles that load fast, and the library's types.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { sourceStamp } from "./stamp.mjs";

rmSync("dist", { recursive: true, force: true });
await build({
  entryPoints: {
    plinth: "src/cli/main.ts",
    index: "src/index.ts",
    "storage-conformance": "src/storage/conformance.ts",
  },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  sourcemap: true,
  logLevel: "warning",
});
const types = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit",
});
if (types.status !== 0) process.exit(types.status ?? 1);
writeFileSync("dist/.stamp", sourceStamp());
