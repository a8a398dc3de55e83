import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeKubectl } from "../support/kubectl.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf, scriptOf } from "../support/pages.ts";

const node = scriptOf("docs/join.md", "sh node");

describeKubectl("docs/join.md", ({ path: kubectl }) => {
  const shell = new PageShell(kubectl);
  const administrate = (commands: string) =>
    shell.run(`export KUBECONFIG=.plinth/admin.kubeconfig\n${commands}`);
  beforeAll(async () => {
    await shell.run(blockOf("docs/join.md", "sh server"));
    shell.env["SERVER"] = shell.servers[0]!.url;
    await administrate(blockOf("docs/join.md", "sh administrator"));
  });
  afterAll(() => shell.close());
  const read = (file: string) => readFileSync(path.join(shell.folder, file), "utf8");

  test("a node joins with a token, is authenticated as itself and renews its certificate", async () => {
    const printed = await shell.run(node);
    expect(printed).toContain("node/n1 created");
    expect(printed.trimEnd().split("\n").at(-1)).toMatch(/^n1\s/);
    const [first, second] = ["first", "second"].map(
      (name) => new X509Certificate(read(`node-n1-${name}.crt`)),
    );
    for (const one of [first!, second!]) expect(one.subject).toBe("O=system:nodes\nCN=system:node:n1");
    expect(second!.serialNumber).not.toBe(first!.serialNumber);
    const columns = "-o=custom-columns=:metadata.name,:spec.username,:status.conditions[*].reason";
    const requests = await administrate(`kubectl get csr --no-headers ${columns}`);
    expect(
      requests
        .trim()
        .split("\n")
        .map((line) => line.trim().split(/\s+/)),
    ).toEqual([
      ["node-n1-first", "system:bootstrap:abcdef", "AutoApproved"],
      ["node-n1-second", "system:node:n1", "AutoApproved"],
    ]);
  }, 120_000);

  test("a node doesn't join where cluster-info was signed with another token", async () => {
    const other = node.replace("token=abcdef.0", "token=abcdef.1");
    await expect(shell.run(other)).rejects.toThrow("cluster-info is not signed with our token\n");
  }, 120_000);
});
