import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeKubectl } from "../support/kubectl.ts";
import { isInstalled, program, root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const page = readFileSync(path.join(root, "docs/kubectl.md"), "utf8");

/** The commands of the blocks with a mark, in order. */
function commandsOf(mark: string): string {
  const blocks = page.matchAll(new RegExp(`^\`\`\`sh ${mark}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...blocks].map(([, commands]) => commands).join("\n");
}

describeKubectl("docs/kubectl.md", ({ path: kubectl }) => {
  const folder = temporaryFolder();
  let server: ServerProcess;
  beforeAll(async () => {
    const flags = commandsOf("server").trim().split(" ").slice(2);
    expect(flags).toContain("--kubernetes");
    server = await ServerProcess.start(
      path.join(folder.path, ".plinth-kubernetes"),
      ...flags.filter((flag) => !flag.startsWith("--data-dir=")),
    );
    const bin = path.join(folder.path, "bin");
    mkdirSync(bin);
    writeFileSync(path.join(bin, "plinth"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(path.join(bin, "plinth"), 0o755);
  });
  afterAll(async () => {
    await server.stop();
    folder.remove();
  });

  function run(commands: string): string {
    const PATH = `${folder.path}/bin:${path.dirname(kubectl)}:${process.env["PATH"]}`;
    const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", commands], {
      cwd: folder.path,
      env: { PATH, HOME: folder.path },
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(status, stderr).toBe(0);
    return stdout;
  }

  it("the commands of kubectl and Kustomize run, and show what the page says", () => {
    const out = run(commandsOf("kubectl"));
    expect(out).toContain("my-kubeconfig: added the context plinth\n");
    expect(out).toMatch(/^yes\nno$/m);
    expect(out).toContain("IMAGE\nweb:2\n");
    expect(out).toContain("deployment.apps/web serverside-applied (server dry run)");
    expect(out).toMatch(/configmap\/test-settings-\w+ created/);
    expect(out).toMatch(/configmap "test-settings-\w+" deleted/);
  }, 120_000);

  // CI can't install Helm, so there the test doesn't exist.
  if (isInstalled("helm"))
    it("the commands of Helm run", () => {
      const before = "export KUBECONFIG=.plinth-kubernetes/admin.kubeconfig\n";
      const out = run(before + commandsOf("helm"));
      expect(out).toContain("green");
      expect(out).toContain("Rollback was a success");
      expect(out).toContain('release "blue" uninstalled');
    }, 120_000);
});
