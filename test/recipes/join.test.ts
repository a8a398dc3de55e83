import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeKubectl } from "../support/kubectl.ts";
import { root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The commands of a page that one of its roles runs, as one script. */
function commandsOf(page: string, role: string): string {
  const blocks = page.matchAll(new RegExp(`^\`\`\`sh ${role}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...blocks].map(([, commands]) => commands).join("\n");
}

const page = readFileSync(path.join(root, "docs/join.md"), "utf8");

describeKubectl("docs/join.md", ({ path: kubectl }) => {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: ServerProcess;
  beforeEach(async () => {
    folder = temporaryFolder();
    const words = commandsOf(page, "server")
      .replaceAll("\\\n", " ")
      .replaceAll("'", "")
      .trim()
      .split(/\s+/)
      .slice(2);
    server = await ServerProcess.start(path.join(folder.path, "data"), ...words);
  });
  afterEach(async () => {
    await server.stop();
    folder.remove();
  });

  /** Runs commands in a folder of their own, and gives what they print. */
  function run(commands: string, env: Record<string, string>): string {
    const PATH = `${path.dirname(kubectl)}:${process.env["PATH"]}`;
    return execFileSync("bash", ["-euo", "pipefail", "-c", commands], {
      cwd: folder.path,
      env: { PATH, HOME: folder.path, SERVER: server.url, ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
    });
  }
  const administrate = (commands: string) => run(commands, { KUBECONFIG: server.administrator });
  const read = (file: string) => readFileSync(path.join(folder.path, file), "utf8");

  test("a node joins with a token, is authenticated as itself and renews its certificate", () => {
    administrate(commandsOf(page, "administrator"));
    const printed = run(commandsOf(page, "node"), {});
    expect(printed).toContain("node/n1 created");
    expect(printed.trimEnd().split("\n").at(-1)).toMatch(/^n1\s/);
    const [first, second] = ["first", "second"].map(
      (name) => new X509Certificate(read(`node-n1-${name}.crt`)),
    );
    for (const one of [first!, second!]) expect(one.subject).toBe("O=system:nodes\nCN=system:node:n1");
    expect(second!.serialNumber).not.toBe(first!.serialNumber);
    const columns = "-o=custom-columns=:metadata.name,:spec.username,:status.conditions[*].reason";
    const requests = administrate(`kubectl get csr --no-headers ${columns}`);
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

  test("a node doesn't join where cluster-info was signed with another token", () => {
    administrate(commandsOf(page, "administrator"));
    const commands = commandsOf(page, "node").replace("token=abcdef.0", "token=abcdef.1");
    let said = "";
    try {
      run(commands, {});
    } catch (error) {
      said = String((error as { stderr?: unknown }).stderr);
    }
    expect(said).toBe("cluster-info is not signed with our token\n");
  }, 120_000);
});

describe("the page", () => {
  test("has commands of each role", () => {
    for (const role of ["server", "administrator", "node"]) expect(commandsOf(page, role)).not.toBe("");
  });
});
