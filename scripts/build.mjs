// Builds dist/: the program and the library as bundles that load fast, and the library's types.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { licenseTexts } from "./licenses.mjs";
import { sourceStamp } from "./stamp.mjs";

rmSync("dist", { recursive: true, force: true });
const { metafile } = await build({
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
  // Small libraries are put in: finding and reading their many files is a fifth of a start. These have compiled parts, or
  // are large and loaded only by who needs them.
  external: ["lmdb", "undici", "@grpc/grpc-js", "yaml", "jose", "@peculiar/*"],
  // What a library of the older module format requires of Node itself.
  banner: {
    js: 'import { createRequire as requireFor } from "node:module";\nconst require = requireFor(import.meta.url);',
  },
  metafile: true,
  sourcemap: true,
  logLevel: "warning",
});
const types = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit",
});
if (types.status !== 0) process.exit(types.status ?? 1);
writeFileSync("dist/third-party-licenses.txt", licenseTexts(Object.keys(metafile.inputs)));
writeFileSync("dist/.stamp", sourceStamp());
