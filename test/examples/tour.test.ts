import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled } from "../support/installed.ts";
import { kubectls } from "../support/kubectl.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf, blocksOf, scriptOf } from "../support/pages.ts";
import { effort } from "../support/effort.ts";

/** Starts the server of a tour by its command. */
async function start(shell: PageShell, command: string): Promise<void> {
  await shell.run(command);
  shell.env["SERVER"] = shell.servers[0]!.url;
}

describe("the README's tour", () => {
  const shell = new PageShell();
  beforeAll(() => start(shell, blockOf("README.md", "sh start")));
  afterAll(() => shell.close());

  it.skipIf(!isInstalled("curl"))(
    "runs, and shows what it says (skipped where curl is missing)",
    async () => {
      const out = await shell.run(scriptOf("README.md", "sh tour"));
      expect(out).toContain("healthz check passed");
      expect(out).toMatch(/17\d created, 0 changed, 0 unchanged\n0 created, 0 changed, 17\d unchanged/);
      expect(out).toContain(
        String.raw`allowed by RoleBinding \"developers/shop-dev\" of ClusterRole \"developer\" to Group \"shop-developers\"`,
      );
      expect(out).toContain(String.raw`role.rbac.authorization.platform.io \"retired-deployer\" not found`);
      expect(out).toContain('"allowed": false');
      expect(out).toContain('"card-keys"');
      expect(out).toMatch(
        /User \\"mara\\" cannot get resource \\"configmaps\\" in API group \\"\\" in the namespace \\"shop-prod\\"/,
      );
      expect(out).toContain("1 created, 0 changed, 13 unchanged");
      expect(out).toContain('{"type":"ADDED","object":{"kind":"RoleBinding"');
      expect(shell.servers[0]!.log()).toBe("");
    },
  );
});

it("the README's tours use different data folders, as each has a vocabulary of its own", () => {
  const folders = blocksOf("README.md", "sh *start").map(
    ({ text }) => /--data-dir=(\S+)/.exec(text)?.[1] ?? ".plinth",
  );
  expect(folders).toHaveLength(2);
  expect(new Set(folders).size).toBe(2);
});

if (effort(false, true))
  describe("the README's tour with kubectl", () => {
    const [kubectl] = kubectls();
    const shell = new PageShell(kubectl);
    beforeAll(() => start(shell, blockOf("README.md", "sh kubectl-start")));
    afterAll(() => shell.close());

    it.skipIf(kubectl === undefined)(
      "runs, and shows what it says (skipped where kubectl is missing)",
      async () => {
        const out = await shell.run(blockOf("README.md", "sh kubectl-tour"));
        expect(out).toContain("clusterrole.rbac.authorization.k8s.io/developer created");
        expect(out).toMatch(/developers +ClusterRole\/developer/);
        expect(out).toMatch(/^yes$/m);
        expect(out).toMatch(/secrets +\[\] +\[card-keys\] +\[get update\]/);
        expect(out).toContain('namespace "search-dev" deleted');
      },
    );
  });
