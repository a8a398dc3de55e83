import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { freePort, program, root, ServerProcess } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const readPage = (name: string) => readFileSync(path.join(root, `docs/${name}`), "utf8");
const running = readPage("running.md");
const recovery = readPage("recovery.md");
const folder = useTemporaryFolders();

/** The lines of the blocks with a mark. */
function linesOf(page: string, mark: string): string[] {
  const blocks = page.matchAll(new RegExp(`^\`\`\`sh ${mark}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...blocks].flatMap(([, commands]) => commands!.trim().split("\n"));
}

/** Writes the files of the page into a folder. */
function writeFiles(dir: string): void {
  for (const [, name, text] of running.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```/gm))
    writeFileSync(path.join(dir, name!), text!);
}

/** The flags of a command, with paths in a folder. */
function flagsOf(line: string, dir: string): string[] {
  const words = line.replaceAll("'", "").split(" ").slice(2);
  return words.map((word) => word.replace(/=((?:audit|backup)\S+)$/, `=${dir}/$1`));
}

describe("docs/running.md and recovery.md", () => {
  const starts = [...new Set([running, recovery].flatMap((page) => linesOf(page, "serve")))];

  it("have more than five starts", () => expect(starts.length).toBeGreaterThan(5));

  it.each(starts)("%s starts a server that is ready", async (line) => {
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

  it("the other commands of docs/running.md work on the data folder of a server", async () => {
    const dir = folder();
    const server = await ServerProcess.start(path.join(dir, ".plinth"));
    for (const line of linesOf(running, "command")) {
      const words = [program, ...line.split(" ").slice(1)];
      const { status, stderr } = spawnSync(process.execPath, words, { cwd: dir, encoding: "utf8" });
      expect([line, status, stderr]).toEqual([line, 0, ""]);
    }
    await server.stop();
  });
});
