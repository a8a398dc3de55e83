import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { runValidate } from "../../../src/cli/validate/validate.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { deployment, rangeDefinition, validateFiles } from "./support.ts";

const range =
  'apiVersion: example.com/v1\nkind: Range\nmetadata: { name: "a<b" }\nspec: { min: 2, max: 1 }\n';
const files = {
  "crd.yaml": rangeDefinition,
  "range.yaml": range.replace('"a<b"', "low"),
  "web.yaml": deployment.replace("containers:", "serviceAccountName: ghost\n      containers:"),
};
const run = async (format: string) => (await validateFiles(files, ["$DIR", `--output=${format}`])).output;

test("--output=json has the verdicts, problems with positions and rules, and a summary", async () => {
  const report = JSON.parse(await run("json")) as Record<string, unknown>;
  expect(report).toMatchObject({
    accepted: false,
    releases: ["1.26"],
    summary: { objects: 3, accepted: 2, rejected: 1, errors: 1, warnings: 1 },
  });
  expect((report["objects"] as unknown[])[1]).toEqual({
    apiVersion: "example.com/v1",
    kind: "Range",
    namespace: "default",
    name: "low",
    location: { file: "./range.yaml", line: 1, column: 1 },
    accepted: false,
    acceptedBy: [],
    problems: [
      {
        severity: "error",
        rule: "cel",
        field: "spec",
        message: 'Invalid value: "object": min must not exceed max',
        source: { text: "self.min <= self.max", location: { file: "./crd.yaml", line: 21, column: 19 } },
        releases: ["1.26"],
        location: { file: "./range.yaml", line: 4, column: 1 },
      },
    ],
  });
});

test("--output=junit has a suite for each file and a case for each object and release", async () => {
  const { output } = await validateFiles(files, ["$DIR", "--output=junit", "--release=1.26,1.30"]);
  const text = output.replace(/time="[\d.]+"/, 'time="0"');
  expect(text.split("\n")).toEqual([
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="plinth validate" tests="6" failures="2" time="0">',
    '  <testsuite name="./crd.yaml" tests="2" failures="0">',
    expect.stringContaining('<testcase name="CustomResourceDefinition ranges.example.com (1.26)"'),
    expect.stringContaining("(1.30)"),
    "  </testsuite>",
    '  <testsuite name="./range.yaml" tests="2" failures="2">',
    '    <testcase name="Range low (1.26)" classname="./range.yaml" file="./range.yaml" line="1">',
    '      <failure message="./range.yaml:4:1: spec: Invalid value: &quot;object&quot;: min must not exceed max (cel)" type="cel">./range.yaml:4:1: spec: Invalid value: &quot;object&quot;: min must not exceed max (cel)</failure>',
    "    </testcase>",
    expect.stringContaining("Range low (1.30)"),
    expect.stringContaining("<failure "),
    "    </testcase>",
    "  </testsuite>",
    '  <testsuite name="./web.yaml" tests="2" failures="0">',
    expect.stringContaining("Deployment web (1.26)"),
    expect.stringContaining(
      "<system-out>warning: ./web.yaml:15:7: spec.template.spec.serviceAccountName: ServiceAccount",
    ),
    "    </testcase>",
    expect.stringContaining("Deployment web (1.30)"),
    expect.stringContaining("<system-out>"),
    "    </testcase>",
    "  </testsuite>",
    "</testsuites>",
    "",
  ]);
});

test("--output=sarif has rules, levels, positions and the rule that made a problem", async () => {
  const log = JSON.parse(await run("sarif")) as { version: string; runs: Record<string, unknown>[] };
  expect(log.version).toBe("2.1.0");
  const location = (uri: string, startLine: number, startColumn: number) => ({
    physicalLocation: { artifactLocation: { uri }, region: { startLine, startColumn } },
  });
  const folder = expect.stringContaining("range.yaml") as unknown as string;
  expect(log.runs[0]).toMatchObject({
    tool: { driver: { name: "plinth validate", rules: [{ id: "cel" }, { id: "reference" }] } },
    results: [
      {
        ruleId: "cel",
        ruleIndex: 0,
        level: "error",
        message: { text: 'Range low: spec: Invalid value: "object": min must not exceed max' },
        locations: [location(folder, 4, 1)],
        relatedLocations: [{ message: { text: "self.min <= self.max" } }],
      },
      { ruleId: "reference", ruleIndex: 1, level: "warning" },
    ],
  });
});

test("--output=github has a command for each problem, and --output=name the rejected objects", async () => {
  expect(await run("github")).toBe(
    `::error file=./range.yaml,line=4,col=1,title=Range low (cel)::spec: Invalid value: "object": min must not exceed max
::warning file=./web.yaml,line=15,col=7,title=Deployment web (reference)::spec.template.spec.serviceAccountName: ServiceAccount "ghost" not found in namespace "default"
`,
  );
  expect(await run("name")).toBe("range.example.com/low\n");
});

test("texts with markup and line breaks are escaped in XML and commands", async () => {
  const odd = { "a,b.yaml": range.replace("example.com/v1", '"a%/v1\\n<x>&"') };
  const github = await validateFiles(odd, ["$DIR", "--output=github"]);
  expect(github.output).toContain("file=./a%2Cb.yaml,line=1,col=1,title=Range a<b (kind)::");
  expect(github.output).toContain("a%25/v1");
  expect((await validateFiles(odd, ["$DIR", "--output=junit"])).output).toContain(
    'name="Range a&lt;b (1.26)"',
  );
});

test("--watch validates again when a file changes, until it is stopped", async () => {
  const folder = temporaryFolder();
  const stop = new AbortController();
  const events = new EventTarget();
  const outputs: string[] = [];
  try {
    const file = path.join(folder.path, "web.yaml");
    writeFileSync(file, deployment);
    const ready = () => once(events, "ready");
    let waiting = ready();
    const running = runValidate(
      [folder.path, "--watch"],
      {},
      {
        readInput: () => Promise.reject(new Error("no input")),
        writeOutput: (text) => void outputs.push(text),
        writeError: () => void events.dispatchEvent(new Event("ready")),
      },
      stop.signal,
    );
    await waiting;
    waiting = ready();
    writeFileSync(file, deployment.replace("replicas: 2", "replica: 2"));
    await waiting;
    stop.abort();
    expect(await running).toBe(1);
    expect(outputs[0]).toContain("1 accepted, 0 rejected");
    expect(outputs.at(-1)).toContain('unknown field "spec.replica"');
  } finally {
    stop.abort();
    folder.remove();
  }
});
