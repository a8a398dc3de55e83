// Builds the web console: content-hashed files, compressed, and the list of them that the server reads.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * @param {string} folder the folder of the result
 * @returns the result of esbuild, with the inputs of the bundles
 */
export async function buildConsole(folder) {
  const result = await build({
    entryPoints: { console: "console/src/main.tsx", style: "console/src/style.css" },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfig: "console/tsconfig.json",
    metafile: true,
    write: false,
    logLevel: "warning",
    legalComments: "none",
  });
  mkdirSync(folder, { recursive: true });
  const files = result.outputFiles.map((one) => ({
    name: path.basename(one.path),
    content: Buffer.from(one.contents),
  }));
  const named = (start, end) => files.find(({ name }) => name.startsWith(start) && name.endsWith(end)).name;
  const icon = readFileSync("console/src/icon.svg");
  const page = readFileSync("console/src/index.html", "utf8")
    .replace("STYLE", named("style-", ".css"))
    .replace("SCRIPT", named("console-", ".js"));
  files.push({ name: "icon.svg", content: icon }, { name: "index.html", content: Buffer.from(page) });
  const list = files.map(({ name, content }) => writeCompressed(folder, name, content));
  writeFileSync(path.join(folder, "files.json"), JSON.stringify(list));
  return result;
}

function writeCompressed(folder, name, content) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  writeFileSync(path.join(folder, `${name}.br`), brotliCompressSync(content, quality));
  const tag = createHash("sha256").update(content).digest("hex").slice(0, 16);
  const immutable = !["icon.svg", "index.html"].includes(name);
  return {
    name: name === "index.html" ? "" : name,
    file: name,
    type: types[path.extname(name)],
    tag,
    immutable,
  };
}
