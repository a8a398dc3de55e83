import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { plinthHere } from "../support/program-here.ts";

/** The words that bash offers after these words of a command line, of which the last one is incomplete. */
function offered(script: string, ...words: readonly string[]): string[] {
  const line = `${script}
COMP_WORDS=(plinth ${words.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${words.length}
_plinth
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", line], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

test("plinth completion bash prints a script that completes commands, flags and files", async () => {
  const { stdout, code } = await plinthHere("completion", "bash");
  expect(code).toBe(0);
  expect(offered(stdout, "")).toEqual([...commands.map(({ name }) => name), "help"]);
  expect(offered(stdout, "serve", "--").toSorted()).toEqual(
    serveFlags.map(({ name, type }) => `--${name}${type === "boolean" ? "" : "="}`).toSorted(),
  );
  expect(offered(stdout, "serve", "--secure")).toEqual(["--secure-port="]);
  expect(offered(stdout, "check", "--")).toEqual(["--data-dir=", "--backup="]);
  expect(offered(stdout, "serve", "--config", "=", "package.j")).toEqual(["package.json"]);
});

test("plinth completion fish and zsh print scripts with each flag", async () => {
  const fish = (await plinthHere("completion", "fish")).stdout;
  const zsh = (await plinthHere("completion", "zsh")).stdout;
  for (const { name } of serveFlags) {
    expect(fish).toContain(`'__fish_seen_subcommand_from serve' -l ${name}`);
    expect(zsh).toContain(`--${name}`);
  }
});

test("plinth completion without a shell exits with code 2 and names the shells", async () => {
  expect(await plinthHere("completion")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("needs one of bash, zsh, fish"),
  });
});
