import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { root } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const installMs = 180_000;

/** The folder in which the packed package is installed. */
export interface InstalledPackage {
  readonly home: string;
  /** Path of the packed package. */
  readonly archive: () => string;
  /** Writes a file into the folder. */
  write(name: string, text: string): void;
  /** Runs Node in the folder; fails if it writes to standard error. @returns its standard output */
  node(...words: readonly string[]): string;
}

/**
 * Installs the packed package, and `others`, into an empty folder before the tests of the file. npm asks the registry only for
 * what its cache doesn't have; if it can't reach the registry the tests are skipped.
 */
export function useInstalledPackage(...others: readonly string[]): InstalledPackage {
  const folder = temporaryFolder();
  const home = path.join(folder.path, "empty");
  let isInstalled = false;
  let archive = "";

  beforeAll(() => {
    mkdirSync(home);
    writeFileSync(path.join(home, "package.json"), '{ "private": true, "type": "module" }\n');
    archive = packPackage(folder.path);
    isInstalled = npmInstall(home, archive, ...others);
  }, installMs);
  beforeEach((context) => {
    if (!isInstalled) context.skip("the registry can't be reached");
  });
  afterAll(folder.remove);

  return {
    home,
    archive: () => archive,
    write: (name, text) => writeFileSync(path.join(home, name), text),
    node(...words) {
      const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: home, encoding: "utf8" });
      expect(stderr).toBe("");
      return stdout.trim();
    },
  };
}

/** Packs the package of this repository into a folder. @returns the path of the file */
export function packPackage(folder: string): string {
  const words = ["pack", "--ignore-scripts", `--pack-destination=${folder}`, "--json"];
  const { status, stdout, stderr } = spawnSync("npm", words, { cwd: root, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return path.join(folder, filename);
}

/** Runs `npm install` in a folder. @returns whether the registry was reached; any other error fails the test */
export function npmInstall(cwd: string, ...packages: readonly string[]): boolean {
  const words = ["install", "--prefer-offline", "--no-audit", "--no-fund", ...packages];
  const { status, stderr } = spawnSync("npm", words, { cwd, encoding: "utf8", timeout: installMs });
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/.test(stderr)) return false;
  expect(status, stderr).toBe(0);
  return true;
}
