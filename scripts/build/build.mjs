// Builds dist/: the program and the library as bundles that load fast, and the library's types.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { licenseTexts } from "./licenses.mjs";
import { pruneTypes } from "./reachable-types.mjs";
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

/**
 * Libraries that are required when they are first needed, because their callers are synchronous and can't wait for an import.
 * Each becomes a file beside the bundles; in the bundles, the module that requires it names this file.
 */
const requiredLibraries = [
  {
    module: "src/base/certificates/asn1.ts",
    file: "asn1.cjs",
    packages: ["@peculiar/asn1-schema", "@peculiar/asn1-csr", "@peculiar/asn1-x509"],
  },
  { module: "src/base/linear-expressions.ts", file: "re2.cjs", packages: ["re2js"] },
];

const requireBeside = {
  name: "require libraries beside the bundle",
  setup({ onLoad }) {
    for (const { module, file, packages } of requiredLibraries) {
      const name = path.basename(module, ".ts");
      onLoad({ filter: new RegExp(`[/\\\\]${name}\\.ts$`) }, ({ path: source }) => {
        let contents = readFileSync(source, "utf8");
        for (const one of packages)
          contents = contents.replaceAll(`require("${one}")`, `require("./${file}")`);
        return { contents, loader: "ts" };
      });
    }
  },
};

/** Loads the compiled part of LMDB from the package of the platform; the bundle has the rest of `lmdb`. */
const lmdbAddon = {
  name: "load the compiled part of LMDB",
  setup({ onResolve }) {
    onResolve({ filter: /^node-gyp-build-optional-packages$/ }, () => ({
      path: path.resolve("scripts/build/lmdb-addon.cjs"),
    }));
  },
};

const common = {
  outdir: "dist",
  bundle: true,
  platform: "node",
  target: "node20",
  sourcemap: true,
  logLevel: "warning",
  // gRPC requires the first for its own diagnostic services only, msgpackr the second only if it is installed.
  external: ["@grpc/proto-loader", "msgpackr-extract"],
};
const sharedErrors = loadedFrom("./errors.cjs", errorModules);

rmSync("dist", { recursive: true, force: true });
const results = await Promise.all([
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
    // CommonJS libraries in the bundle need `require` for Node's modules.
    banner: {
      js: 'import { createRequire as requireFor } from "node:module";\nconst require = requireFor(import.meta.url);',
    },
    plugins: [sharedErrors, requireBeside, lmdbAddon],
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
    plugins: [sharedErrors, requireBeside, lmdbAddon, loadedFrom("./index.js", ["src/index.ts"])],
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
  ...requiredLibraries.map(({ file, packages }) =>
    build({
      ...common,
      stdin: {
        contents: packages.map((name) => `export * from ${JSON.stringify(name)};`).join("\n"),
        resolveDir: ".",
      },
      outdir: undefined,
      outfile: `dist/${file}`,
      format: "cjs",
      metafile: true,
    }),
  ),
]);
const types = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit",
});
if (types.status !== 0) process.exit(types.status ?? 1);
const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
pruneTypes(
  "dist/types",
  Object.values(exports).map((entry) => entry.types),
);
writeFileSync(
  "dist/third-party-licenses.txt",
  licenseTexts(results.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}))),
);
writeFileSync("dist/.stamp", sourceStamp());
