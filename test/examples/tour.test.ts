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
      expect(out).toMatch(/17\d created, 0 changed, 0 unchanged\n0 created, 0 changed, 17\d unchanged/);
      expect(out).toMatch(/^yes: devi .*update configmaps in the namespace shop-dev$/m);
      expect(out).toContain("RoleBinding shop-dev/developers of ClusterRole developer");
      expect(out).toContain(
        'RoleBinding shop-dev/left-behind: role.rbac.authorization.platform.io "retired-deployer" not found',
      );
      expect(out).toMatch(/^no: devi .*update configmaps in the namespace shop-prod$/m);
      expect(out).toContain('lacks: the verb is "update"');
      expect(out).toContain("card-keys");
      expect(out).toContain("/console/");
      expect(out).toMatch(
        /User \\"mara\\" cannot get resource \\"configmaps\\" in API group \\"\\" in the namespace \\"shop-prod\\"/,
      );
      expect(out).toMatch(/no: mara .*get configmaps settings in the namespace shop-prod$/m);
      expect(out).toMatch(/1 created, 0 changed, 17\d unchanged/);
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
