import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";
import { filesBelow, read, sources } from "../tidy/source-files.ts";
import { blocksOf } from "../support/pages.ts";

const pages = filesBelow("docs/runbooks").toSorted();

/** The commands of the pages: lines of their shell blocks. */
const commands = blocksOf("docs/runbooks/*.md", "sh").flatMap(({ page, text }) =>
  text
    .trim()
    .split("\n")
    .map((command) => ({ page, command })),
);

/** Splits a command at spaces, except in double quotes, which are removed. */
const wordsOf = (command: string) =>
  [...command.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);

/** The texts that a page searches for in `/metrics`: the arguments of `grep`. */
const searchesOf = (filters: readonly string[]) =>
  filters
    .map(wordsOf)
    .filter(([program]) => program === "grep")
    .flatMap((words) => words.slice(1).filter((word) => !word.startsWith("-")));

describeKubectl("the commands of the runbooks", (program) => {
  let server: TestServer;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await TestServer.start({ vocabulary: "kubernetes" });
    kubectl = new Kubectl(program, server.server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  it("succeed, and find the metrics that they search for", async () => {
    const faults: string[] = [];
    for (const { page, command } of commands) {
      const [line, ...filters] = command.split(" | ");
      const [name, ...words] = wordsOf(line!);
      if (name !== "kubectl") {
        if (spawnSync("sh", ["-c", command]).status !== 0) faults.push(`${page}: ${command}`);
        continue;
      }
      const { code, stdout, stderr } = await kubectl.run(words);
      if (code !== 0) faults.push(`${page}: ${command}: ${stderr}`);
      // A histogram without observations has its comments only.
      for (const text of searchesOf(filters))
        if (!stdout.includes(text.replace(/_sum$/, ""))) faults.push(`${page}: there is no ${text}`);
    }
    expect(faults).toEqual([]);
  });
});

it("log messages of the runbooks are messages of the server", () => {
  const source = sources.map(read).join("\n");
  const messages = pages.flatMap((page) =>
    read(page)
      .split("\n")
      .filter((line) => /\blog\b/.test(line))
      .flatMap((line) => [...line.matchAll(/`([a-z' ,]+ [a-z' ,]+)`/g)].map(([, message]) => message!)),
  );
  expect(messages.length).toBeGreaterThan(5);
  // The end of a message may depend on the outcome.
  const parts = messages.flatMap((message) => message.split(", "));
  expect(parts.filter((part) => !source.includes(part))).toEqual([]);
});
