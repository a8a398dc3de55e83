// `npm run release`: builds and checks the committed state in an empty folder and packs it into release/. Publishes nothing.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * Returns why a version can't be released; empty if it can.
 *
 * @param {{ version: string, changelog: string, status: string, tags: readonly string[] }} state the version in
 *   package.json, the text of CHANGELOG.md, the output of `git status --short`, and the tags of the repository
 * @returns {string[]}
 */
export function releaseFaults({ version, changelog, status, tags }) {
  const faults = [];
  if (status.trim() !== "")
    faults.push(`the working tree has changes that are not committed:\n${status.trimEnd()}`);
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    faults.push(`package.json: version ${version} is not x.y.z`);
  const heading = changelog.split("\n").find((line) => line.startsWith(`## [${version}]`));
  if (heading === undefined) faults.push(`CHANGELOG.md has no heading "## [${version}] - YYYY-MM-DD"`);
  else if (!/\] - \d{4}-\d\d-\d\d$/.test(heading)) faults.push(`CHANGELOG.md: "${heading}" has no date`);
  if (tags.includes(`v${version}`))
    faults.push(`the tag v${version} exists: raise the version in package.json`);
  return faults;
}

function release() {
  const git = (...words) => execFileSync("git", words, { encoding: "utf8" });
  const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));
  const faults = releaseFaults({
    version,
    changelog: readFileSync("CHANGELOG.md", "utf8"),
    status: git("status", "--short"),
    tags: git("tag").split("\n"),
  });
  if (faults.length > 0) {
    for (const fault of faults) console.error(`release: ${fault}`);
    process.exit(1);
  }
  const folder = mkdtempSync(path.join(tmpdir(), "release-"));
  try {
    const checkout = path.join(folder, name);
    git("clone", "--quiet", ".", checkout);
    const run = (...words) => {
      console.error(`release: ${words.join(" ")}`);
      execFileSync(words[0], words.slice(1), { cwd: checkout, stdio: ["ignore", "inherit", "inherit"] });
    };
    run("node", "scripts/ensure.mjs", "--tools");
    run("npm", "run", "--silent", "typecheck");
    run("npm", "run", "--silent", "lint");
    run("npx", "vitest", "run", "test/package", "test/tidy");
    rmSync("release", { recursive: true, force: true });
    mkdirSync("release");
    run("npm", "pack", "--ignore-scripts", `--pack-destination=${path.resolve("release")}`);
    copyFileSync(path.join(checkout, "dist/sbom.cdx.json"), `release/${name}-${version}.sbom.cdx.json`);
    const files = [`${name}-${version}.tgz`, `${name}-${version}.sbom.cdx.json`];
    const sum = (file) =>
      createHash("sha256")
        .update(readFileSync(`release/${file}`))
        .digest("hex");
    writeFileSync("release/SHA256SUMS", files.map((file) => `${sum(file)}  ${file}\n`).join(""));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`release/ has ${name} ${version} with its bill of materials and checksums. To publish it:
  git tag v${version} && git push origin v${version}
  npm publish release/${name}-${version}.tgz`);
}

if (process.argv[1] === path.resolve("scripts/release.mjs")) release();
