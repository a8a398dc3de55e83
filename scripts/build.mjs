// Builds dist/: the program and the library as bundles that load fast, and the library's types.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { licenseTexts } from "./licenses.mjs";
import { sourceStamp } from "./stamp.mjs";

/** Modules of error classes that callers recognize with `instanceof`; `import` and `require` share one file of them. */
const errorModules = [
  "src/base/status-error.ts",
  "src/server/options/options-error.ts",
  "src/storage/store.ts",
];

/** Returns a plugin that makes bundles load these modules from a file of dist/. */
const loadedFrom = (file, modules) => ({
  name: `load ${file}`,
  setup({ onResolve }) {
    const shared = new Set(modules.map((one) => path.resolve(one)));
    onResolve({ filter: /^\..*\.ts$/ }, ({ path: imported, resolveDir, kind }) => {
      if (kind === "entry-point" || !shared.has(path.resolve(resolveDir, imported))) return undefined;
      return { path: file, external: true };
    });
  },
});

const common = {
  outdir: "dist",
  bundle: true,
  platform: "node",
  target: "node20",
  sourcemap: true,
  logLevel: "warning",
};
const sharedErrors = loadedFrom("./errors.cjs", errorModules);

rmSync("dist", { recursive: true, force: true });
const [{ metafile }] = await Promise.all([
  build({
    ...common,
    entryPoints: {
      plinth: "src/cli/main.ts",
      index: "src/index.ts",
      kinds: "src/kinds/all.ts",
      "storage-conformance": "src/storage/conformance.ts",
    },
    splitting: true,
    format: "esm",
    // Small libraries are put in: finding and reading their many files is a fifth of a start. These have compiled parts, or
    // are large and loaded only by who needs them.
    external: ["lmdb", "undici", "@grpc/grpc-js", "yaml", "jose", "@peculiar/*", "re2js"],
    // CommonJS libraries in the bundle need `require` for Node's modules.
    banner: {
      js: 'import { createRequire as requireFor } from "node:module";\nconst require = requireFor(import.meta.url);',
    },
    plugins: [sharedErrors],
    metafile: true,
  }),
  // For `require`: small files beside the server, which is loaded from its one bundle.
  build({
    ...common,
    entryPoints: {
      index: "src/commonjs.ts",
      kinds: "src/kinds/all.ts",
      "storage-conformance": "src/storage/conformance.ts",
    },
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    // CommonJS has no `import.meta`.
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
    plugins: [sharedErrors, loadedFrom("./index.js", ["src/index.ts"])],
  }),
  build({
    ...common,
    stdin: {
      contents: errorModules.map((one) => `export * from "./${one}";`).join("\n"),
      resolveDir: ".",
    },
    outdir: undefined,
    outfile: "dist/errors.cjs",
    format: "cjs",
  }),
]);
const types = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit",
});
if (types.status !== 0) process.exit(types.status ?? 1);
writeFileSync("dist/third-party-licenses.txt", licenseTexts(Object.keys(metafile.inputs)));
writeFileSync("dist/.stamp", sourceStamp());
