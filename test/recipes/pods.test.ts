import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled } from "../support/installed.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf } from "../support/pages.ts";

const commands = {
  server: blockOf("docs/pods.md", "sh server"),
  programs: blockOf("docs/pods.md", "sh programs"),
  objects: blockOf("docs/pods.md", "sh objects"),
};
const programs = ["kube-controller-manager", "kube-scheduler", "kwok", "kubectl"];
const missing = programs.filter((program) => !isInstalled(program));

describe("docs/pods.md", () => {
  it("starts each program of the page", () => {
    for (const program of programs) expect(Object.values(commands).join("")).toContain(`${program} `);
  });
});

// CI can't install these programs, so there the test doesn't exist.
if (missing.length === 0)
  describe("docs/pods.md, with its programs", () => {
    const shell = new PageShell();
    let running: ReturnType<typeof spawn>;
    beforeAll(async () => {
      await shell.run(commands.server);
      // A group of its own, so that the programs end together.
      const script = `${commands.programs}\nwait`;
      running = spawn("bash", ["-c", script], { cwd: shell.folder, detached: true, stdio: "ignore" });
    });
    afterAll(async () => {
      process.kill(-running.pid!, "SIGTERM");
      await shell.close();
    });

    it("pods of a Deployment run on a node of kwok", async () => {
      shell.env["KUBECONFIG"] = ".plinth-pods/admin.kubeconfig";
      const out = await shell.run(commands.objects);
      expect(out).toMatch(/^node\/fake-1 +Ready/m);
      expect(out.match(/^pod\/web-\S+ +1\/1 +Running/gm)).toHaveLength(3);
    }, 120_000);
  });
