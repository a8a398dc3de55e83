import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { filesBelow, read, root, sources } from "./source-files.ts";

const ownFile = "test/tidy/text.test.ts";
const texts = ["src", "test", "docs", "bench", "examples", "scripts"]
  .flatMap(filesBelow)
  .filter((file) => file !== ownFile && !file.startsWith("bench/results/") && !file.endsWith(".png"))
  .concat(["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ".ci/run"]);

test("nothing is left to do in a comment", () => {
  const marks = /\b(TODO|FIXME|XXX|HACK)\b/;
  expect(texts.filter((file) => marks.test(read(file)))).toEqual([]);
});

test("links between pages name files that exist", () => {
  const pages = texts.filter((file) => file.endsWith(".md"));
  const wrong = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)]
      .map((link) => path.posix.join(path.posix.dirname(page), link[1]!))
      .filter((target) => !existsSync(path.join(root, target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("links to sections name headings that exist", () => {
  const pages = texts.filter((file) => file.endsWith(".md"));
  const wrong = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#:\s]*\.md)?#([^)]+)\)/g)]
      .map(([, file, anchor]) => ({
        target: file === undefined ? page : path.posix.join(path.posix.dirname(page), file),
        anchor: anchor!,
      }))
      .filter(({ target, anchor }) => !anchorsOf(target).has(anchor))
      .map(({ target, anchor }) => `${page}: ${target}#${anchor}`),
  );
  expect(wrong).toEqual([]);
});

/** The anchors of a page's headings, as GitHub forms them. */
function anchorsOf(page: string): Set<string> {
  const headings = read(page).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  );
}

test("product words are spelled in the vocabulary only", () => {
  const words =
    /platform\.io|k8s\.io|kubernetes\.io|kube-(system|public)|platform-(system|public)|vnd\.(kubernetes|platform)|x-(kubernetes|platform)-/;
  const spelled = sources
    .filter((file) => !file.startsWith("src/vocabulary/"))
    .filter((file) => words.test(withoutComments(read(file))));
  expect(spelled).toEqual([]);
});

/** Entries of the package. */
const entries = new Set(["src/index.ts", "src/kinds/all.ts"]);

test("no file has a default export, and only entries of the package export other files", () => {
  const wrong = sources.filter(
    (file) =>
      /^export default /m.test(read(file)) || (/^export \* from/m.test(read(file)) && !entries.has(file)),
  );
  expect(wrong).toEqual([]);
});

test("no catch is silent", () => {
  const silent = /catch(\s*\([^)]*\))?\s*\{\s*(\/\/.*\s*)*\}|\.catch\(\(\)\s*=>\s*(\{\s*\}|undefined)\)/;
  expect(sources.filter((file) => silent.test(read(file)))).toEqual([]);
});

/** Where JSON is parsed without a bound of its depth: it is this program's own, a server's answer to it, or a file's. */
const trustedJson = [
  "src/authentication/console/login-codes.ts",
  "src/authentication/console/session-tokens.ts",
  "src/cli/serve/administrator-file.ts",
  "src/cli/workers/role.ts",
  "src/controllers/cluster-authentication-trust.ts",
  "src/fields/apply/field-set.ts",
  "src/fields/apply/new-fields-text.ts",
  "src/http/documents/console/console-files.ts",
  "src/resources/objects/stored.ts",
  "src/resources/services/claims.ts",
  "src/resources/writes/apply.ts",
  "src/server/certificates/serving.ts",
  "src/storage/history/settings.ts",
  "src/storage/lmdb/backup/manifest.ts",
  "src/storage/stamp.ts",
];

test("the JSON of clients is read by the decoders that bound its depth", () => {
  const decoders = /^src\/base\/json\//;
  const found = sources.filter((file) => !decoders.test(file) && /\bJSON\.parse\(/.test(read(file)));
  expect(found).toEqual(trustedJson);
});

test("nothing names a place outside the project", () => {
  const places = /\/work\/|\/root\/|registry\.npmjs/;
  expect(texts.filter((file) => places.test(read(file)))).toEqual([]);
});

/** Source text without its comments, in which examples may use any words. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
}
