import { spawnSync } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled, program, root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { read } from "../tidy/source-files.ts";

/** The commands of docs/explaining.md, each with the form and text of the output that follows it. */
const shown = [
  ...read("docs/explaining.md").matchAll(
    /^```sh explain\n([\s\S]*?)^```\n\n```(text|json)\n([\s\S]*?)^```$/gm,
  ),
].map(([, command, form, output]) => ({ command: command!.trim(), form: form!, output: output! }));

describe("docs/explaining.md", () => {
  const folder = temporaryFolder();
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start(
      folder.path,
      `--token-auth-file=${path.join(root, "examples/organisation/tokens.csv")}`,
    );
    run("node examples/apply.mjs examples/organisation");
  });
  afterAll(async () => {
    await server.stop();
    folder.remove();
  });

  function run(command: string): string {
    const script = `plinth() { "${process.execPath}" "${program}" "$@"; }\n${command}`;
    const KUBECONFIG = path.join(folder.path, "admin.kubeconfig");
    const env = { ...process.env, KUBECONFIG, SERVER: server.url, CA: server.caFile };
    const { status, stdout, stderr } = spawnSync("bash", ["-e", "-c", script], {
      cwd: root,
      env,
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    return stdout;
  }

  it("has commands to run", () => {
    expect(shown.length).toBeGreaterThan(6);
    expect(shown.length).toBe(read("docs/explaining.md").split("```sh explain\n").length - 1);
  });

  it.each(shown.filter(({ command }) => !command.startsWith("curl") || isInstalled("curl")))(
    "$command: shows what the page says (those with curl are left out where it is missing)",
    ({ command, form, output }) => {
      const got = run(command);
      if (form === "json") expect(JSON.parse(got)).toEqual(JSON.parse(output));
      else expect(got).toBe(output);
    },
  );
});
