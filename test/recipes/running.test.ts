import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { freePort, program, root, ServerProcess } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const page = readFileSync(path.join(root, "docs/running.md"), "utf8");
const folder = useTemporaryFolders();

/** The lines of the blocks with a mark. */
function linesOf(mark: string): string[] {
  const blocks = page.matchAll(new RegExp(`^\`\`\`sh ${mark}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...blocks].flatMap(([, commands]) => commands!.trim().split("\n"));
}

/** Writes the files of the page into a folder. */
function writeFiles(dir: string): void {
  for (const [, name, text] of page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```/gm))
    writeFileSync(path.join(dir, name!), text!);
}

/** The flags of a command, with paths in a folder. */
function flagsOf(line: string, dir: string): string[] {
  const words = line.replaceAll("'", "").split(" ").slice(2);
  return words.map((word) => word.replace(/=(audit\S+)$/, `=${dir}/$1`));
}

describe("docs/running.md", () => {
  it("has more than five starts", () => expect(linesOf("serve").length).toBeGreaterThan(5));

  it.each(linesOf("serve"))("%s starts a server that is ready", async (line) => {
    const dir = folder();
    writeFiles(dir);
    const flags = flagsOf(line, dir).filter((flag) => !flag.startsWith("--secure-port="));
    const server = await ServerProcess.start(
      path.join(dir, "data"),
      ...flags,
      `--secure-port=${await freePort()}`,
    );
    const hasWarnings = server.log() !== "" && !line.includes("--access-log");
    expect(await server.stop()).toBe(0);
    expect(hasWarnings).toBe(false);
  });

  it("its other commands work on the data folder of a server", async () => {
    const dir = folder();
    const server = await ServerProcess.start(path.join(dir, ".plinth"));
    for (const line of linesOf("command")) {
      const words = [program, ...line.split(" ").slice(1)];
      const { status, stderr } = spawnSync(process.execPath, words, { cwd: dir, encoding: "utf8" });
      expect([line, status, stderr]).toEqual([line, 0, ""]);
    }
    await server.stop();
  });
});
