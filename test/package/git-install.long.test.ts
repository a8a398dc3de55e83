import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test, onTestFinished } from "vitest";
import { root } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { npmInstall } from "./installed-package.ts";

test("an installation from a git repository builds the command and the library", (context) => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const home = path.join(folder.path, "empty");
  mkdirSync(home);
  writeFileSync(path.join(home, "package.json"), '{ "private": true, "type": "module" }\n');
  if (!npmInstall(home, `git+file://${root}`)) context.skip("the registry can't be reached");
  const options = { cwd: home, encoding: "utf8" } as const;
  const command = spawnSync("node_modules/.bin/plinth", ["version"], options);
  expect([command.stderr, command.stdout]).toEqual(["", expect.stringMatching(/^plinth \d/)]);
  const script = `import { createServer } from "plinth"; await (await createServer({ port: false })).close();`;
  const library = spawnSync(process.execPath, ["--input-type=module", "-e", script], options);
  expect([library.stderr, library.status]).toEqual(["", 0]);
  expect(readdirSync(path.join(home, "node_modules/plinth"))).not.toContain("src");
}, 240_000);
