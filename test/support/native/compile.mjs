// Compiles the TypeScript of the project into a folder from which Node loads it. The test runner would compile each module for each run, and
// evaluate it with slower bindings.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../../..");
/** Another one after each change of this file, which decides about the output. */
const version = createHash("sha256")
  .update(readFileSync(import.meta.filename))
  .digest("hex")
  .slice(0, 8);
const outputFolder = path.join(
  process.env.PLINTH_COMPILED ?? path.join(root, "node_modules/.plinth-compiled"),
  version,
);
const sourceFolders = ["src", "test", "console/src"];

/**
 * Returns the compiler; most processes find all files compiled, and don't load it. It must not start a thread: that of the loader's hooks,
 * for which a new thread waits, waits for the compiler.
 */
function compiler() {
  const before = process.env.ESBUILD_WORKER_THREADS;
  process.env.ESBUILD_WORKER_THREADS = "0";
  try {
    return createRequire(import.meta.url)("esbuild");
  } finally {
    if (before === undefined) delete process.env.ESBUILD_WORKER_THREADS;
    else process.env.ESBUILD_WORKER_THREADS = before;
  }
}

/** Whether a file is TypeScript of the project. */
export function isCompiled(file) {
  return /\.tsx?$/.test(file) && file.startsWith(root) && !file.includes("/node_modules/");
}

/** Returns the JavaScript of a file; compiles it if the file has changed. */
export function compiled(file) {
  if (isCurrent(file)) return readFileSync(outputOf(file), "utf8");
  const { mtimeMs } = statSync(file);
  const result = compiler().transformSync(readFileSync(file, "utf8"), optionsOf(file));
  store(file, mtimeMs, result);
  return result.code;
}

/** Returns the source map of a file that was compiled, as JSON. */
export function sourceMapOf(file) {
  return readFileSync(`${outputOf(file)}.map`, "utf8");
}

/** Compiles all files that have changed. */
export async function compileAll() {
  const changed = sourceFolders
    .flatMap((folder) => below(path.join(root, folder)))
    .filter((file) => !isCurrent(file));
  await Promise.all(
    changed.map(async (file) => {
      const { mtimeMs } = statSync(file);
      store(file, mtimeMs, await compiler().transform(readFileSync(file, "utf8"), optionsOf(file)));
    }),
  );
}

function optionsOf(file) {
  return {
    format: "esm",
    target: "node20",
    supported: { "import-attributes": true },
    sourcemap: "external",
    sourcesContent: false,
    loader: file.endsWith("x") ? "tsx" : "ts",
    jsx: "automatic",
    jsxImportSource: "preact",
  };
}

/** Stores the output of a file under the time of the file's last change. */
function store(file, mtimeMs, { code, map }) {
  const output = outputOf(file);
  mkdirSync(path.dirname(output), { recursive: true });
  writeFileSync(`${output}.map`, map);
  writeFileSync(output, code);
  utimesSync(output, mtimeMs / 1000, mtimeMs / 1000);
}

function outputOf(file) {
  return path.join(outputFolder, `${path.relative(root, file)}.js`);
}

/** Whether the stored output is that of the file; times lose fractions of milliseconds. */
function isCurrent(file) {
  const stored = statSync(outputOf(file), { throwIfNoEntry: false })?.mtimeMs;
  return stored !== undefined && Math.abs(stored - statSync(file).mtimeMs) < 1;
}

function below(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return below(file);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith(".d.ts") ? [file] : [];
  });
}
