import { afterAll, beforeAll, expect, it } from "vitest";
import { isInstalled } from "../support/installed.ts";
import { describeKubectl } from "../support/kubectl.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf, scriptOf } from "../support/pages.ts";

describeKubectl("docs/kubectl.md", ({ path: kubectl }) => {
  const shell = new PageShell(kubectl);
  beforeAll(async () => {
    await shell.run(blockOf("docs/kubectl.md", "sh server"));
  });
  afterAll(() => shell.close());

  it("the commands of kubectl and Kustomize run, and show what the page says", async () => {
    const out = await shell.run(scriptOf("docs/kubectl.md", "sh kubectl"));
    expect(out).toContain("my-kubeconfig: added the context plinth\n");
    expect(out).toMatch(/^yes\nno$/m);
    expect(out).toContain("IMAGE\nweb:2\n");
    expect(out).toContain("deployment.apps/web serverside-applied (server dry run)");
    expect(out).toMatch(/configmap\/test-settings-\w+ created/);
    expect(out).toMatch(/configmap "test-settings-\w+" deleted/);
  }, 120_000);

  // CI can't install Helm, so there the test doesn't exist.
  if (isInstalled("helm"))
    it("the commands of Helm run", async () => {
      shell.env["KUBECONFIG"] = ".plinth-kubernetes/admin.kubeconfig";
      const out = await shell.run(blockOf("docs/kubectl.md", "sh helm"));
      expect(out).toContain("green");
      expect(out).toContain("Rollback was a success");
      expect(out).toContain('release "blue" uninstalled');
    }, 120_000);
});
