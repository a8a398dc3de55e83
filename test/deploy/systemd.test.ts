import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { parseFlags } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { variableOf } from "../../src/cli/serve/serve-options.ts";
import { blockOf } from "../support/pages.ts";
import { isInstalled, program, root } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const unit = readFileSync(path.join(root, "deploy/systemd/plinth.service"), "utf8");
const folder = useTemporaryFolders();

/** Returns the words of a command of the unit, after the name of the program. */
function wordsOf(key: "ExecStart" | "ExecStartPost", stateDirectory: string): string[] {
  const line = new RegExp(`^${key}=plinth (.+)$`, "m").exec(unit)![1]!;
  return line.replaceAll("${STATE_DIRECTORY}", stateDirectory).split(" ");
}

/** Writes the unit with commands that exist on this machine. */
function unitFile(): string {
  const dir = folder();
  const file = path.join(dir, "plinth.service");
  writeFileSync(path.join(dir, "plinth"), "#!/bin/sh\n");
  chmodSync(path.join(dir, "plinth"), 0o755);
  writeFileSync(file, unit.replaceAll("=plinth ", `=${dir}/plinth `));
  return file;
}

function analyze(...words: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe("the systemd unit", () => {
  it("has existing flags only", async () => {
    for (const key of ["ExecStart", "ExecStartPost"] as const) {
      const [name, ...rest] = wordsOf(key, "/var/lib/plinth");
      const command = await commands.find((one) => one.name === name)!.load();
      expect(parseFlags(command.flags, rest).size).toBeGreaterThan(1);
    }
  });

  it("takes the drop-in of docs/deploying.md, whose variables are those of flags", () => {
    const dropIn = blockOf("docs/deploying.md", "ini");
    const flags = new Set(serveFlags.map(({ name }) => variableOf(name)));
    const variables = [...dropIn.matchAll(/\b(PLINTH_\w+)=%d\/(\S+)/g)];
    expect(variables.map(([, name]) => flags.has(name!))).toEqual([true, true]);
    for (const [, , file] of variables) expect(dropIn).toContain(`LoadCredential=${file}:`);
    if (!isInstalled("systemd-analyze")) return;
    const file = unitFile();
    writeFileSync(file, `${readFileSync(file, "utf8")}\n${dropIn}`);
    expect(analyze("verify", "--man=no", file)).toEqual({ status: 0, output: "" });
  });

  it("has commands that start a server and wait for it", async () => {
    const dir = path.join(folder(), "state");
    const options = { cwd: "/", env: { PATH: process.env["PATH"], PLINTH_SECURE_PORT: "0" } };
    const server = spawn(process.execPath, [program, ...wordsOf("ExecStart", dir)], {
      ...options,
      stdio: "ignore",
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    const post = [program, ...wordsOf("ExecStartPost", dir)];
    const { status, stderr } = spawnSync(process.execPath, post, { ...options, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
  });

  it.skipIf(!isInstalled("systemd-analyze"))("passes systemd-analyze with the score of its page", () => {
    const file = unitFile();
    expect(analyze("verify", "--man=no", file)).toEqual({ status: 0, output: "" });
    const page = readFileSync(path.join(root, "docs/deploying.md"), "utf8");
    const documented = Number(/exposure level of (\d\.\d)/.exec(page)?.[1]);
    expect(documented).toBeLessThan(2);
    const threshold = `--threshold=${documented * 10}`;
    const { status, output } = analyze("security", "--offline=true", threshold, "--no-pager", file);
    expect([status, /exposure level for plinth.service: (\d\.\d)/.exec(output)?.[1]]).toEqual([
      0,
      documented.toFixed(1),
    ]);
  });
});
