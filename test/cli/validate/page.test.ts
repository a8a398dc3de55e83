import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { validateFlags } from "../../../src/cli/validate/validate-flags.ts";
import { PageShell } from "../../support/page-shell.ts";
import { blockOf, scriptOf } from "../../support/pages.ts";
import { plinthHere } from "../../support/program-here.ts";
import { read } from "../../tidy/source-files.ts";
import { deployment, rangeDefinition } from "./support.ts";

let shell: PageShell;
beforeAll(() => {
  shell = new PageShell();
  shell.file("deploy/web.yaml", deployment);
  shell.file("definitions/range.yaml", rangeDefinition);
});
afterAll(() => shell.close());

test("docs/validate.md: the first commands accept a folder of manifests", async () => {
  expect(await shell.run(scriptOf("docs/validate.md", "sh first"))).toContain("1 accepted, 0 rejected");
  const outputs = await shell.run(scriptOf("docs/validate.md", "sh input"));
  expect(outputs.match(/1 accepted, 0 rejected/g)).toHaveLength(2);
});

test("docs/validate.md: the problem that it shows is that of the command", async () => {
  shell.file("wrong/deploy/web.yaml", deployment.replace("replicas: 2", "replicas: -1"));
  const output = await shell.run("cd wrong && (plinth validate deploy/ || true)");
  expect(output).toBe(blockOf("docs/validate.md", "text problem"));
});

test("docs/validate.md: the program of the library runs", () => {
  const program = shell.file("library.mjs", blockOf("docs/validate.md", "ts library"));
  expect(spawnSync(process.execPath, [program], { cwd: shell.folder, encoding: "utf8" })).toMatchObject({
    status: 0,
    stderr: "",
  });
});

test("docs/validate.md has every flag, as the help does", async () => {
  const [, section = ""] = /\n## Flags\n([^]*?)\n## /.exec(read("docs/validate.md")) ?? [];
  const { stdout } = await plinthHere("validate", "--help");
  for (const { name, doc } of validateFlags) {
    expect(section).toContain(`\`--${name}\``);
    expect(section).toContain(doc);
    expect(stdout).toContain(`--${name}`);
  }
});
