// Builds dist/: the program and the library as bundles that load fast, and the library's types.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildConsole } from "./console.mjs";
import { billOfMaterials, bundledPackages, licenseTexts } from "./bundled-packages.mjs";
import { writeKindTypes } from "./kind-types.mjs";
import { pruneTypes, writeCommonJsTypes } from "./reachable-types.mjs";
import { sourceStamp } from "./stamp.mjs";

/**
 * Modules that `import` and `require` load from one CommonJS file of dist/: error classes, which callers recognize with
 * `instanceof`, and the large libraries.
 */
const sharedFiles = {
  "errors.cjs": [
    "src/base/status-error.ts",
    "src/resources/engine/request-faults.ts",
    "src/server/explore/explore-error.ts",
    "src/server/options/options-error.ts",
    "src/storage/store.ts",
  ],
  "grpc.cjs": ["src/storage/etcd/grpc.ts"],
  "postgres.cjs": ["src/storage/postgres/library.ts"],
  "undici.cjs": ["src/remote/undici.ts"],
  "yaml.cjs": ["src/base/yaml/yaml-library.ts"],
};

/** Replaces imports of modules in shared files by imports of the files. */
const importShared = {
  name: "import shared files",
  setup({ onResolve }) {
    const files = new Map(
      Object.entries(sharedFiles).flatMap(([file, modules]) =>
        modules.map((one) => [path.resolve(one), file]),
      ),
    );
    onResolve({ filter: /^\..*\.ts$/ }, ({ path: imported, resolveDir }) => {
      const file = files.get(path.resolve(resolveDir, imported));
      return file === undefined ? undefined : { path: `./${file}`, external: true };
    });
  },
};

/**
 * Libraries that are required when they are first needed, because their callers are synchronous and can't wait for an import.
 * Each becomes a file beside the bundles; in the bundles, the module that requires it names this file.
 */
const requiredLibraries = [
  {
    module: "src/base/certificates/asn1.ts",
    file: "asn1.cjs",
    packages: ["@peculiar/asn1-schema", "@peculiar/asn1-csr"],
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
  // gRPC requires the first for its own diagnostic services only, msgpackr the second only if it is installed, and pg the third in another
  // runtime only. None is installed: scripts/build/unused-package takes their place.
  external: ["@grpc/proto-loader", "msgpackr-extract", "pg-cloudflare"],
};
const plugins = [importShared, requireBeside, lmdbAddon];
/** Bundles a module that is written here. */
const generated = (contents, file, options) =>
  build({
    ...common,
    stdin: { contents, resolveDir: "." },
    outdir: undefined,
    outfile: `dist/${file}`,
    ...options,
  });
const exportAll = (modules) => modules.map((one) => `export * from ${JSON.stringify(one)};`).join("\n");

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
    plugins,
    metafile: true,
  }),
  // `import` of the shared error classes: their names are exported by a module, so that its types are those of a module.
  generated(exportAll(["./src/storage/store.ts"]), "storage.js", { format: "esm", plugins }),
  // For `require`: complete bundles without `import()`, which test runners with their own module loader (Jest) don't support.
  build({
    ...common,
    entryPoints: {
      index: "src/index.ts",
      kinds: "src/kinds/all.ts",
      "storage-conformance": "src/storage/conformance.ts",
    },
    format: "cjs",
    // These bundles repeat what the modules for `import` have; in a short form the package stays below 31 MB.
    minifyWhitespace: true,
    minifySyntax: true,
    outExtension: { ".js": ".cjs" },
    supported: { "dynamic-import": false },
    // CommonJS has no `import.meta`.
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
    plugins,
  }),
  ...Object.entries(sharedFiles).map(([file, modules]) =>
    generated(exportAll(modules.map((one) => `./${one}`)), file, { format: "cjs", metafile: true }),
  ),
  // Libraries of others, which nobody reads here.
  ...requiredLibraries.map(({ file, packages }) =>
    generated(exportAll(packages), file, { format: "cjs", metafile: true, minifyWhitespace: true }),
  ),
]);
results.push(await buildConsole("dist/console"));
const types = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit",
});
if (types.status !== 0) process.exit(types.status ?? 1);
writeKindTypes("dist/types", await import(pathToFileURL(path.resolve("dist/kinds.js")).href));
const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
pruneTypes(
  "dist/types",
  Object.values(exports).flatMap((entry) => entry.import?.types ?? []),
);
writeCommonJsTypes("dist/types");
const packages = bundledPackages(results.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {})));
writeFileSync("dist/third-party-licenses.txt", licenseTexts(packages));
writeFileSync("dist/sbom.cdx.json", `${JSON.stringify(billOfMaterials(packages), undefined, 2)}\n`);
writeFileSync("dist/.stamp", sourceStamp());
