import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { acceptedFlags } from "../../src/cli/flags/accepted-flags.ts";
import { codeBlocks, matches, pagesBelow, type CodeBlock } from "../support/pages.ts";
import { program } from "../support/root.ts";
import { serveCommand } from "../support/serve-command.ts";
import { filesBelow, read, root } from "./source-files.ts";

/** Blocks that no test runs, and why; all blocks of the page with the info string if there is no first line. */
interface Exception {
  readonly page: string;
  readonly info: string;
  readonly firstLine?: string;
  readonly reason: string;
}

const exceptions: readonly Exception[] = [
  {
    page: "README.md",
    info: "sh",
    firstLine:
      "npm start   # installs, builds, and serves at https://127.0.0.1:6443 on an embedded store in .plinth/",
    reason: "the second command is all tests; the tours begin with the first one",
  },
  {
    page: "docs/apply.md",
    info: "text",
    reason: "the page is generated from the rows of test/resources/apply/, which its test runs",
  },
  {
    page: "docs/controllers.md",
    info: "sh",
    reason:
      "needs kube-controller-manager; test/controllers/documented.test.ts compares the list of controllers",
  },
  {
    page: "docs/deploying.md",
    info: "sh docker",
    reason:
      "needs a container engine; test/deploy/container.long.test.ts runs the steps of the image and its entry point",
  },
  {
    page: "docs/deploying.md",
    info: "sh systemd",
    reason:
      "needs root, systemd and a packed archive; test/deploy/systemd.test.ts runs the commands of the unit",
  },
  {
    page: "docs/deploying.md",
    info: "sh pods",
    reason:
      "needs a cluster that runs pods; test/deploy/kubernetes.test.ts starts the containers as processes",
  },
  {
    page: "docs/envtest.md",
    info: "go",
    reason: "needs Go and its modules; npm run test:programs runs a program with envtest",
  },
  {
    page: "docs/envtest.md",
    info: "sh others",
    reason: "needs the package registries of Python and Java",
  },
  {
    page: "docs/library.md",
    info: "ts",
    reason: "the page is generated from the published types; test/tidy/reference.test.ts compares them",
  },
  {
    page: "docs/benchmarks.md",
    info: "sh*",
    reason: "takes minutes, or needs a second server; test/recipes/commands.test.ts checks the options",
  },
  {
    page: "docs/testing.md",
    info: "sh",
    reason:
      "builds the package; test/package/git-install.long.test.ts installs from git, install.test.ts the packed one",
  },
];

const blocks = pagesBelow().toSorted().flatMap(codeBlocks);
const calls = filesBelow("test")
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap((file) => [...read(file).matchAll(/\b(?:blocksOf|blockOf|scriptOf)\(\s*"([^"]+)",\s*"([^"]+)"/g)])
  .map(([, page, info]) => ({ page: page!, info: info! }));

const firstLineOf = ({ text }: CodeBlock) => text.split("\n", 1)[0]!;
const nameOf = (block: CodeBlock) => `${block.page}:${block.line} \`\`\`${block.info}: ${firstLineOf(block)}`;
const isRead = ({ page, info }: CodeBlock) =>
  calls.some((call) => matches(call.page, page) && matches(call.info, info));
const isException = (block: CodeBlock, { page, info, firstLine }: Exception) =>
  page === block.page &&
  matches(info, block.info) &&
  (firstLine ?? firstLineOf(block)) === firstLineOf(block);
const untested = blocks.filter((block) => exceptions.some((one) => isException(block, one)));

test("each code block of the documentation is read by a test, is the output of such a block, or has a reason", () => {
  expect(blocks.length).toBeGreaterThan(200);
  const outputs = new Set(blocks.filter(isRead).map(({ page, output }) => `${page}: ${output}`));
  const missing = blocks.filter(
    (block) => !isRead(block) && !untested.includes(block) && !outputs.has(`${block.page}: ${block.text}`),
  );
  expect(missing.map(nameOf)).toEqual([]);
});

test("each exception names a block", () => {
  expect(exceptions.filter((one) => !blocks.some((block) => isException(block, one)))).toEqual([]);
});

test("a command that starts a server is the last of its block, because it doesn't return", () => {
  const starts = blocks.filter(({ info, text }) => /^sh\b/.test(info) && serveCommand.test(text));
  expect(starts.length).toBeGreaterThan(20);
  const continued = starts.filter((block) => {
    const { index, 0: command } = serveCommand.exec(block.text)!;
    return !untested.includes(block) && block.text.slice(index + command.length).trim() !== "";
  });
  expect(continued.map(nameOf)).toEqual([]);
});

/** Commands in the text of pages, and those of blocks that no test runs, each with its page. */
const written = pagesBelow()
  .filter((page) => page !== "CHANGELOG.md")
  .flatMap((page) => {
    const fenced = untested.filter((block) => block.page === page && block.info.startsWith("sh"));
    const text = read(page).replaceAll(/^ *```[^]*?^ *```$/gm, "");
    return [
      ...fenced.flatMap(({ text: script }) => script.replaceAll("\\\n", " ").split("\n")),
      ...[...text.matchAll(/`((?:plinth|npm run|npx) [^`]+)`/g)].map(([, code]) => code!),
    ].map((command) => ({ page, command: command.replaceAll(/\s+/g, " ") }));
  });
const flagsOf = (command: string) => [...command.matchAll(/ \[?--([a-z-]+)/g)].map(([, flag]) => flag!);

test("commands in texts name existing commands of the program, with existing flags", () => {
  const script = execFileSync(process.execPath, [program, "completion", "bash"], { encoding: "utf8" });
  const flags = new Map(
    [...script.matchAll(/^ {4}([a-z-]+)\) flags="([^"]*)"/gm)].map(([, name, words]) => [
      name!,
      new Set(["help", ...words!.split(" ").map((word) => word.replaceAll(/^--|=$/g, ""))]),
    ]),
  );
  for (const { name } of acceptedFlags) flags.get("serve")!.add(name);
  const faults: string[] = [];
  let count = 0;
  for (const { page, command } of written) {
    const [, name, rest] = /(?:^|npx |exec plinth |-- )plinth ([a-z-]+)(.*)$/.exec(command) ?? [];
    if (name === undefined) continue;
    count++;
    const unknown = flagsOf(rest!).filter((flag) => flags.get(name)?.has(flag) !== true);
    if (!flags.has(name) || unknown.length > 0) faults.push(`${page}: ${command}`);
  }
  expect(count).toBeGreaterThan(80);
  expect(faults).toEqual([]);
});

test("commands in texts name existing scripts and files of the project, with existing options", () => {
  const scriptsIn = (folder: string) =>
    (JSON.parse(read(path.posix.join(folder, "package.json"))) as { scripts: Record<string, string> })
      .scripts;
  const faults = written.filter(({ command }) => {
    const [, file] = /^npx (?:tsx|vitest run) (\S+)/.exec(command) ?? [];
    // An example of a test file.
    if (file !== undefined) return file !== "test/api/a.test.ts" && !existsSync(path.join(root, file));
    const [, script] = /^npm run (\S+)/.exec(command) ?? [];
    if (script === undefined) return false;
    const [, prefix] = / --prefix (\S+)$/.exec(command) ?? [];
    if (prefix !== undefined) return scriptsIn(prefix)[script] === undefined;
    const scripts = scriptsIn("");
    const [, options = ""] = command.replace(/#.*/, "").split(" -- ", 2);
    const folder = / (\S+)\/\w+\.m?[jt]s$/.exec(scripts[script] ?? "")?.[1];
    const sources = folder === undefined ? "" : filesBelow(folder).map(read).join("");
    return scripts[script] === undefined || flagsOf(` ${options}`).some((flag) => !sources.includes(flag));
  });
  expect(faults).toEqual([]);
});
