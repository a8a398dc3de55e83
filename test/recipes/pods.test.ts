import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled, root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const page = readFileSync(path.join(root, "docs/pods.md"), "utf8");
const programs = ["kube-controller-manager", "kube-scheduler", "kwok", "kubectl"];
const missing = programs.filter((program) => !isInstalled(program));

function commandsOf(mark: string): string {
  return new RegExp(`^\`\`\`sh ${mark}\\n([\\s\\S]*?)^\`\`\``, "m").exec(page)![1]!;
}

describe("docs/pods.md", () => {
  it("has commands for the server, the programs and the objects", () => {
    for (const mark of ["server", "programs", "objects"]) expect(commandsOf(mark)).not.toBe("");
  });
});

// CI can't install these programs, so there the test doesn't exist.
if (missing.length === 0)
  describe("docs/pods.md, with its programs", () => {
    const folder = temporaryFolder();
    let server: ServerProcess;
    let running: ReturnType<typeof spawn>;
    beforeAll(async () => {
      const flags = commandsOf("server").trim().split(" ").slice(2);
      server = await ServerProcess.start(
        path.join(folder.path, ".plinth-pods"),
        ...flags.filter((flag) => !flag.startsWith("--data-dir=")),
      );
      // A group of its own, so that the programs end together.
      const script = `${commandsOf("programs")}\nwait`;
      running = spawn("bash", ["-c", script], { cwd: folder.path, detached: true, stdio: "ignore" });
    });
    afterAll(async () => {
      process.kill(-running.pid!, "SIGTERM");
      await server.stop();
      folder.remove();
    });

    it("pods of a Deployment run on a node of kwok", () => {
      const env = { ...process.env, KUBECONFIG: server.administrator };
      const options = { cwd: folder.path, env, encoding: "utf8" } as const;
      const { status, stdout, stderr } = spawnSync("bash", ["-euc", commandsOf("objects")], options);
      expect(status, stderr).toBe(0);
      expect(stdout).toMatch(/^node\/fake-1 +Ready/m);
      expect(stdout.match(/^pod\/web-\S+ +1\/1 +Running/gm)).toHaveLength(3);
    }, 120_000);
  });
