import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
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

test("docs/validate.md: the step of CI and the hook run on the manifests", async () => {
  const ci = parse(blockOf("docs/validate.md", "yaml ci")) as { steps: { run?: string }[] };
  expect(await shell.run(ci.steps[1]!.run!)).toBe("");
  const hooks = parse(blockOf("docs/validate.md", "yaml pre-commit")) as {
    repos: { hooks: { entry: string; files: string }[] }[];
  };
  const { entry, files } = hooks.repos[0]!.hooks[0]!;
  expect(new RegExp(files).test("deploy/web.yaml")).toBe(true);
  // The hook gets the names of the changed files.
  expect(await shell.run(`${entry} deploy/web.yaml`)).toContain("1 accepted, 0 rejected");
});

test("docs/validate.md: the schemas are where the settings of the editor say", async () => {
  await shell.run(scriptOf("docs/validate.md", "sh schema"));
  const settings = JSON.parse(blockOf("docs/validate.md", "json settings")) as {
    "yaml.schemas": Record<string, string>;
  };
  const [file = ""] = Object.keys(settings["yaml.schemas"]);
  const { allOf } = JSON.parse(readFileSync(path.join(shell.folder, file), "utf8")) as { allOf: object[] };
  expect(JSON.stringify(allOf)).toContain('"const":"Range"');
});

test("docs/validate.md: the check of an upgrade runs", async () => {
  expect(await shell.run(scriptOf("docs/validate.md", "sh upgrade"))).toContain(
    "feature gates that 1.34 enables",
  );
});

test("docs/validate.md: the clients of an audit log are named", async () => {
  const event = {
    kind: "Event",
    stage: "ResponseComplete",
    verb: "list",
    user: { username: "system:serviceaccount:ci:deployer" },
    userAgent: "helm/3.9",
    stageTimestamp: "2026-01-02T03:04:05.000000Z",
    objectRef: { resource: "flowschemas", apiGroup: "flowcontrol.apiserver.k8s.io", apiVersion: "v1beta2" },
  };
  shell.file("audit.log", `${JSON.stringify(event)}\n`.repeat(12));
  const output = await shell.run(`${scriptOf("docs/validate.md", "sh clients").trim()} || true`);
  expect(output).toContain(blockOf("docs/validate.md", "text clients"));
});

test("docs/validate.md: the types for Jest name an interface of the library", () => {
  expect(blockOf("docs/validate.md", "ts jest")).toContain("extends AcceptanceMatchers<R>");
});

test("docs/validate.md: the matcher is used as in its test, test/server/validation/matchers.test.ts", () => {
  const program = blockOf("docs/validate.md", "ts matcher");
  expect(program).toContain("expect.extend(manifestMatchers);");
  expect(program).toContain('await expect("deploy").toBeAccepted({ release: "1.33" });');
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
