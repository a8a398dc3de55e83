import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { usage } from "../../bench/options.ts";
import { kubectls } from "../support/kubectl.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf, blocksOf, scriptOf } from "../support/pages.ts";
import { root } from "../support/root.ts";
import { effort } from "../support/effort.ts";

const kubernetesNames = (text: string) => text.replaceAll("platform.io", "k8s.io");
const definition = blockOf("docs/custom-resources.md", "yaml definition");

// In the long form of the tests alone, because the commands are some sixty programs. One data folder goes through the tests in order, so that few servers are started.
if (effort(false, true))
  describe("the commands of pages", () => {
    const [kubectl] = kubectls();
    const shell = new PageShell(kubectl);
    const read = (file: string) => readFileSync(path.join(shell.folder, file), "utf8");
    let consoleOpened: Promise<string>;
    beforeAll(async () => {
      await shell.run(blockOf("docs/console.md", "sh serve"));
      // The command waits ten seconds for the browser, so it ends during the other tests.
      consoleOpened = shell.run(blockOf("docs/console.md", "sh"));
      consoleOpened.catch(() => undefined);
    });
    afterAll(() => shell.close());

    it("docs/commands.md: kubeconfigs, ready, and authorization queries", async () => {
      await shell.run(blockOf("docs/commands.md", "sh kubeconfig"));
      expect(read(".kube/config")).toContain("current-context: plinth\n");
      expect(JSON.parse(read("devi.kubeconfig"))).toMatchObject({ "current-context": "plinth-devi" });
      mkdirSync(path.join(shell.folder, "var/lib"), { recursive: true });
      symlinkSync("../../.plinth", path.join(shell.folder, "var/lib/plinth"));
      await shell.run(blockOf("docs/commands.md", "sh ready"));
      const answers = await shell.run(blockOf("docs/commands.md", "sh auth"));
      expect(answers).toMatch(/^no: mara \(system:authenticated\): update configmaps settings in /);
      expect(answers).toContain("who can delete deployments.apps in every namespace:\n");
      const matrix: unknown = JSON.parse(answers.slice(answers.indexOf("{\n"), answers.indexOf("\n}\n") + 2));
      expect(matrix).toMatchObject({ user: "system:serviceaccount:web:deployer", namespace: "web" });
    });

    it("docs/encryption.md: plinth rewrite", async () => {
      const out = await shell.run(blockOf("docs/encryption.md", "sh rewrite"));
      expect(out).toMatch(/^\d+ objects, 0 stored again, 0 failed$/m);
    });

    it("docs/commands.md: a server starts from a restored backup", async () => {
      mkdirSync(path.join(shell.folder, "backups"));
      await shell.run(blockOf("docs/commands.md", "sh backup"));
      expect(shell.servers).toHaveLength(2);
      // The paths of the pages on flags and on recovery mean the same folders.
      rmSync(path.join(shell.folder, "backups/monday"), { recursive: true });
      await shell.servers.pop()!.stop();
      rmSync(path.join(shell.folder, ".plinth-restored"), { recursive: true });
    });

    it("docs/recovery.md: a backup is checked, and restored as it was at a time and at a revision", async () => {
      const name = "backups/2026-11-28T11-00-00Z";
      await shell.run(`plinth backup --to=${name}`);
      expect(await shell.run(blockOf("docs/recovery.md", "sh check"))).toMatch(/: sound$/m);
      const { revision, timeMs } = JSON.parse(read(`${name}/backup.json`)) as Record<string, number>;
      const restore = blockOf("docs/recovery.md", "sh restore")
        .replace("2026-11-28T10:15:00Z", new Date(timeMs!).toISOString())
        .replace("=48213", `=${revision}`);
      await shell.run(restore);
      const restored = [".plinth-restored", ".plinth-at-48213"].filter((dir) =>
        existsSync(path.join(shell.folder, dir)),
      );
      expect(restored).toHaveLength(2);
    });

    it("docs/recovery.md: a server starts after the loss of its folder", async () => {
      await shell.stop();
      rmSync(path.join(shell.folder, ".plinth"), { recursive: true });
      await shell.run(blockOf("docs/recovery.md", "sh recover"));
      expect(shell.servers[0]!.log()).toBe("");
    });

    it("docs/commands.md, manifests.md: a data folder is compacted and gets the other vocabulary", async () => {
      expect(await consoleOpened).toMatch(
        /^https:\S+\/console\/#code=\S+\nvalid for 60 seconds and one login$/m,
      );
      expect(read("opened.html")).toContain("/console/#code=");
      await shell.stop();
      await shell.run(blockOf("docs/commands.md", "sh compact"));
      const policy = shell.file("policy.yaml", kubernetesNames(blockOf("docs/audit.md", "yaml")));
      shell.env["PLINTH_AUDIT_POLICY_FILE"] = policy;
      const out = await shell.run(blockOf("docs/manifests.md", "sh vocabulary"));
      expect(out).toContain("converted .plinth to the kubernetes vocabulary");
      expect(shell.servers[0]!.log()).toBe("");
    });

    describe.skipIf(kubectl === undefined)("with kubectl (skipped where it is missing)", () => {
      beforeAll(() => {
        shell.env["KUBECONFIG"] = ".plinth/admin.kubeconfig";
        cpSync(
          path.join(shell.folder, ".plinth/admin.kubeconfig"),
          path.join(shell.folder, "admin.kubeconfig"),
        );
        for (const file of ["definitions/shop/orders.yaml", "orders.yaml"])
          shell.file(file, kubernetesNames(definition));
      });

      it("docs/manifests.md and custom-resources.md: types are written from files and from the server", async () => {
        await shell.run("kubectl apply -f orders.yaml");
        const out = await shell.run(blockOf("docs/manifests.md", "sh types"));
        const written = [out, read("kinds.ts"), read("src/types/orders.shop.example.com.ts")];
        await shell.run(blockOf("docs/custom-resources.md", "sh"));
        for (const text of [...written, read("orders.ts")])
          expect(text).toContain(blockOf("docs/custom-resources.md", "ts"));
      });

      it("docs/audit.md: recent events are read", async () => {
        const out = await shell.run(blockOf("docs/audit.md", "sh kubectl"));
        expect(JSON.parse(out.slice(out.indexOf("{")))).toMatchObject({ kind: "EventList" });
      });

      it("docs/deploying.md: the overlay is applied", async () => {
        for (const file of ["ca.crt", "tls.crt", "tls.key"]) shell.file(file, "text");
        symlinkSync(path.join(root, "deploy"), path.join(shell.folder, "deploy"));
        const overlay = blockOf("docs/deploying.md", "yaml file=kustomization.yaml");
        // The Kustomize of earlier releases of kubectl has another name for folders.
        const isOld = /"gitVersion": "v1\.(?:1\d|20)\./.test(
          await shell.run("kubectl version --client -o json"),
        );
        shell.file("overlay/kustomization.yaml", isOld ? overlay.replace("resources:", "bases:") : overlay);
        const out = await shell.run(blockOf("docs/deploying.md", "sh apply"));
        expect(out).toContain("secret/plinth-etcd-client created\n");
        expect(out).toContain("deployment.apps/plinth created\n");
      });
    });
  });

describe("commands that need no server", () => {
  const shell = new PageShell();
  afterAll(() => shell.close());

  it("docs/manifests.md: manifests are converted", async () => {
    const budget = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: { name: web }\n";
    const ingress =
      "apiVersion: networking.k8s.io/v1beta1\nkind: Ingress\nmetadata: { name: web }\nspec: { backend: { serviceName: web, servicePort: 80 } }\n";
    shell.file("old.yaml", budget);
    shell.file("manifests/web/ingress.yaml", ingress);
    expect(await shell.run(blockOf("docs/manifests.md", "sh convert"))).toContain(
      "apiVersion: networking.k8s.io/v1\n",
    );
    expect(readFileSync(path.join(shell.folder, "new.yaml"), "utf8")).toContain("apiVersion: policy/v1\n");
  });

  it("docs/envtest.md and README.md: suites find the programs of each release", async () => {
    // Stands for the compiler, which would run a suite.
    const go = `#!/bin/sh
[ "$*" = "test ./..." ] && cd "$KUBEBUILDER_ASSETS" && [ -x kube-apiserver ] && [ -x etcd ] && [ -x kubectl ] && pwd
`;
    shell.file("bin/go", go, 0o755);
    const suites = scriptOf("docs/envtest.md", "sh suite");
    const out = await shell.run(`${blockOf("README.md", "sh envtest")}\n${suites}`);
    expect(new Set(out.trim().split("\n"))).toHaveLength(4);
  });

  it("docs/benchmarks.md: options of the benchmarks exist", () => {
    const words = blocksOf("docs/benchmarks.md", "sh*").flatMap(
      ({ text }) => text.match(/(?<= )--[a-z]+/g) ?? [],
    );
    expect(words.length).toBeGreaterThan(7);
    for (const word of words) if (word !== "--help") expect(usage).toContain(`  ${word} `);
  });
});
