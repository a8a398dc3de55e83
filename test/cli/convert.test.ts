import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { convertFlags } from "../../src/cli/convert/command.ts";
import { UsageError } from "../../src/cli/flags/flag-reader.ts";
import { blockOf } from "../support/pages.ts";
import { plinthHere } from "../support/program-here.ts";
import { read } from "../tidy/source-files.ts";
import { convert, convertText, documents } from "./convert-support.ts";

const folder = mkdtempSync(path.join(tmpdir(), "plinth-convert-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const place = path.join(folder, name);
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, text);
  return place;
}

const budget = (apiVersion: string, name = "web") => ({
  apiVersion,
  kind: "PodDisruptionBudget",
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: { app: name } } },
});
const yamlBudget = (name: string) =>
  `apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: ${name}}\nspec: {minAvailable: 1}\n`;

describe("plinth convert reads", () => {
  it("several files, documents, JSON and standard input, in this order", async () => {
    const yaml = file("several.yaml", `# none\n---\n${yamlBudget("a")}---\n---\n${yamlBudget("b")}...\n`);
    const json = file("one.json", JSON.stringify(budget("policy/v1beta1", "c")));
    const { output, code } = await convert(["-f", yaml, `--filename=${json}`, "-f-"], yamlBudget("d"));
    expect(documents(output).map(({ apiVersion, metadata }) => [apiVersion, metadata.name])).toEqual(
      ["a", "b", "c", "d"].map((name) => ["policy/v1", name]),
    );
    expect(code).toBe(0);
  });

  it("the files of a folder ordered by name, with -R also those of subfolders", async () => {
    const place = path.join(folder, "deep");
    file("deep/b.yml", yamlBudget("b"));
    file("deep/a.YAML", yamlBudget("a"));
    file("deep/notes.txt", "no manifest");
    file("deep/more/c.json", JSON.stringify(budget("policy/v1beta1", "c")));
    const names = async (...words: string[]) =>
      documents((await convert(["-f", place, ...words])).output).map(({ metadata }) => metadata.name);
    expect(await names()).toEqual(["a", "b"]);
    expect(await names("-R")).toEqual(["a", "b", "c"]);
    expect(await names("--recursive")).toEqual(["a", "b", "c"]);
  });

  it("each object of a List", async () => {
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [budget("policy/v1beta1"), budget("policy/v1", "new")],
    };
    const { output, lines } = await convertText(list, "--verbose", "-o", "json");
    expect(JSON.parse(output)).toEqual({ ...list, items: [budget("policy/v1"), budget("policy/v1", "new")] });
    expect(lines).toEqual(["-: document 1 (List): items[1]: it is of policy/v1 already"]);
  });

  it("a typed list whose items omit apiVersion and kind", async () => {
    const { apiVersion: _, kind: _kind, ...bare } = budget("policy/v1beta1");
    const list = {
      apiVersion: "policy/v1beta1",
      kind: "PodDisruptionBudgetList",
      metadata: {},
      items: [bare],
    };
    const { output } = await convertText(list, "-o=json");
    expect(JSON.parse(output)).toEqual({ ...list, apiVersion: "policy/v1", items: [budget("policy/v1")] });
  });

  it("a List, whose notes have the full path of a field", async () => {
    const items = [budget("policy/v1beta1"), { ...budget("policy/v1beta1"), extra: 1 }];
    const { lines } = await convertText({ apiVersion: "v1", kind: "List", items });
    expect(lines).toEqual([
      "-: document 1 (List): items[1].extra: not carried: PodDisruptionBudget has no such field in v1",
    ]);
  });

  it("no document at all", async () => {
    expect(await convertText("# nothing\n")).toEqual({ code: 0, output: "", lines: [] });
  });
});

describe("plinth convert writes", () => {
  it("one object as JSON, several as a List", async () => {
    const one = await convertText(budget("policy/v1beta1"), "--output=json");
    expect(JSON.parse(one.output)).toEqual(budget("policy/v1"));
    const two = await convertText(yamlBudget("a") + "---\n" + yamlBudget("b"), "--output=json");
    expect(JSON.parse(two.output)).toMatchObject({
      apiVersion: "v1",
      kind: "List",
      items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }],
    });
  });

  it("unconverted objects unchanged, including the form of numbers", async () => {
    const custom = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      spec: { a: null, b: false, c: "", d: [], e: "yes" },
    };
    const { output, lines, code } = await convertText(custom, "--verbose");
    expect(documents(output)).toEqual([custom]);
    expect(output).toContain('e: "yes"');
    expect(lines).toEqual(["-: document 1 (Widget): example.com/v1 is of no built-in group"]);
    expect(code).toBe(0);
  });

  it("integers that a double can't hold", async () => {
    const { output } = await convertText(
      '{"apiVersion":"example.com/v1","kind":"W","big":9007199254740993}',
      "-ojson",
    );
    expect(output).toContain("9007199254740993");
  });

  it("known fields in the spelling and order of the input", async () => {
    const text = `metadata: {name: a, annotations: {note: "on"}}
kind: CronJob
spec:
  schedule: "* * * * *"
  suspend: true
  jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: a, resources: {limits: {memory: 1024Mi}}}], restartPolicy: Never}}}}
apiVersion: batch/v1beta1
`;
    const { output } = await convertText(text);
    expect(output.split("\n").slice(0, 8)).toEqual([
      "apiVersion: batch/v1",
      "kind: CronJob",
      "metadata:",
      "  name: a",
      "  annotations:",
      '    note: "on"',
      "spec:",
      '  schedule: "* * * * *"',
    ]);
    expect(output).toContain("memory: 1024Mi");
    expect(output).not.toContain("creationTimestamp");
    expect(output).not.toContain("status");
  });
});

describe("the vocabulary of the output", () => {
  it("is that of --vocabulary", async () => {
    const slice = {
      apiVersion: "discovery.k8s.io/v1beta1",
      kind: "EndpointSlice",
      metadata: { name: "a" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], topology: { "topology.kubernetes.io/zone": "a" } }],
    };
    const { output, lines } = await convertText(slice, "--vocabulary=kubernetes");
    expect(documents(output)).toEqual([
      { ...slice, apiVersion: "discovery.k8s.io/v1", endpoints: [{ addresses: ["10.0.0.1"], zone: "a" }] },
    ]);
    expect(lines).toEqual([]);
  });

  it("is an error if a manifest has names of another vocabulary than --vocabulary", async () => {
    const ingress = { apiVersion: "networking.k8s.io/v1beta1", kind: "Ingress" };
    const { lines, code } = await convertText(ingress, "--vocabulary=platform");
    expect(lines).toEqual([
      "-: document 1 (Ingress): cannot be converted: networking.k8s.io/v1beta1 is a name of the kubernetes vocabulary; use --vocabulary=kubernetes",
    ]);
    expect(code).toBe(1);
  });

  const ingress = (apiVersion: string, annotations = {}) => ({
    apiVersion,
    kind: "Ingress",
    metadata: { name: "web", annotations },
    spec: { backend: { serviceName: "web", servicePort: 80 } },
  });
  const nginx = { "nginx.ingress.kubernetes.io/rewrite-target": "/" };

  it.each([
    ["an apiVersion", ingress("networking.k8s.io/v1beta1"), "networking.k8s.io/v1"],
    ["a neutral apiVersion", ingress("networking.platform.io/v1beta1"), "networking.platform.io/v1"],
    ["an annotation", ingress("extensions/v1beta1", nginx), "networking.k8s.io/v1"],
    [
      "an apiVersion before an annotation",
      ingress("networking.platform.io/v1beta1", nginx),
      "networking.platform.io/v1",
    ],
  ])("are kept as the manifest has them, by %s", async (_what, manifest, apiVersion) => {
    const { output, lines, code } = await convertText(manifest);
    expect(documents(output)[0]).toMatchObject({ apiVersion, metadata: { name: "web" } });
    expect([lines, code]).toEqual([[], 0]);
  });

  it("is that of the file's other documents or of --output-version if a manifest shows none", async () => {
    const file = [ingress("extensions/v1beta1"), ingress("networking.k8s.io/v1beta1")];
    const text = file.map((one) => JSON.stringify(one)).join("\n---\n");
    const kept = documents((await convertText(text)).output).map((one) => one.apiVersion as string);
    expect(kept).toEqual(["networking.k8s.io/v1", "networking.k8s.io/v1"]);
    const wanted = await convertText(file[0]!, "--output-version=networking.k8s.io/v1");
    expect(documents(wanted.output)[0].apiVersion).toBe("networking.k8s.io/v1");
    expect(wanted.lines).toEqual([]);
  });

  it("is platform, with a note, if no name shows another one", async () => {
    const { output, lines, code } = await convertText(ingress("extensions/v1beta1"));
    expect(documents(output)[0].apiVersion).toBe("networking.platform.io/v1");
    expect(lines).toEqual([
      "-: document 1 (Ingress web): The manifest has no vocabulary-specific names; writing platform names. Use --vocabulary=kubernetes for the others.",
    ]);
    expect(code).toBe(0);
  });
});

describe("invalid input is reported, the rest is converted, and the exit code is 1, for", () => {
  it.each<[string, string, RegExp]>([
    ["neither YAML nor JSON", "a: [1\n---\nb: 2\n", /^-: neither YAML nor JSON: line \d+, column \d+: /],
    [
      "the line in the file",
      `${yamlBudget("a")}---\na: 1\nb: "\\q"\n`,
      /^-: neither YAML nor JSON: line 7, column 5: /,
    ],
    ["no object", "- 1\n", /^-: document 1: cannot be converted: must be an object$/],
    [
      "no kind",
      "metadata: {name: a}\n",
      /^-: document 1: cannot be converted: apiVersion and kind are required$/,
    ],
    [
      "a version that never was",
      "apiVersion: apps/v7\nkind: Deployment\n",
      /^-: document 1 \(Deployment\): cannot be converted: apps\/v7 never had a kind Deployment$/,
    ],
    [
      "a kind that never was",
      "apiVersion: extensions/v1beta1\nkind: Deploymint\n",
      /cannot be converted: extensions\/v1beta1 never had a kind Deploymint$/,
    ],
    [
      "a value of a wrong type",
      "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nspec: {selector: [a]}\n",
      /^-: document 1 \(PodDisruptionBudget\): spec\.selector: cannot be converted: expected an object, got /,
    ],
    [
      "a value where rules look for an object",
      "apiVersion: networking.platform.io/v1beta1\nkind: Ingress\nspec: {backend: web, rules: {}}\n",
      /spec\.defaultBackend: cannot be converted: expected an object, got /,
    ],
  ])("%s", async (_what, text, message) => {
    const { lines, code } = await convertText(text);
    expect(lines).toEqual([expect.stringMatching(message)]);
    expect(code).toBe(1);
  });

  it("a duplicate member", async () => {
    const { lines, code } = await convertText(`${yamlBudget("a")}kind: PodDisruptionBudget\n`);
    expect(lines).toEqual([
      "-: document 1 (PodDisruptionBudget a): kind: duplicate field; the last one is used",
    ]);
    expect(code).toBe(0);
  });

  it("no such file, and a folder without manifests", async () => {
    const empty = path.join(folder, "empty");
    mkdirSync(empty);
    const { output, lines, code } = await convert(
      ["-f", path.join(folder, "none.yaml"), "-f", empty, "-f-"],
      yamlBudget("a"),
    );
    expect(lines).toEqual([
      `${path.join(folder, "none.yaml")}: there is no such file or folder`,
      `${empty}: the folder has no .yaml, .yml or .json file`,
    ]);
    expect(documents(output)).toHaveLength(1);
    expect(code).toBe(1);
  });
});

describe("wrong usage", () => {
  it.each<[string, string[], string]>([
    ["nothing to convert", [], "--filename (-f) is required"],
    ["an unknown flag", ["-f-", "--nothing"], "unknown flag --nothing"],
    ["an unknown letter", ["-x"], 'unexpected argument "-x"'],
    ["a missing value", ["-f"], "--filename needs a value"],
    ["another form", ["-f-", "-o", "xml"], '--output: "xml" is not one of yaml, json'],
    [
      "another vocabulary",
      ["-f-", "--vocabulary=mine"],
      '--vocabulary: "mine" is not one of platform, kubernetes',
    ],
    [
      "an unknown group",
      ["-f-", "--output-version=example.com/v1"],
      '--output-version: "example.com/v1" is no version of a built-in group in the platform or the kubernetes vocabulary',
    ],
    [
      "an unknown version",
      ["-f-", "--output-version=apps/v2"],
      '--output-version: "apps/v2" is no version to convert to; there is apps/v1',
    ],
    [
      "a group that nothing goes to",
      ["-f-", "--output-version=extensions/v1beta1"],
      '--output-version: "extensions/v1beta1" is no version to convert to; nothing is converted to this group',
    ],
  ])("%s", async (_what, words, message) => {
    await expect(convert(words)).rejects.toThrow(UsageError);
    await expect(convert(words)).rejects.toThrow(message);
  });

  it("ends the program with exit code 2, and --help shows every flag", async () => {
    expect(await plinthHere("convert")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--filename (-f)"),
    });
    const { code, stdout } = await plinthHere("convert", "--help");
    expect(code).toBe(0);
    for (const { name, short } of convertFlags) {
      expect(stdout).toContain(`--${name}`);
      if (short !== undefined) expect(stdout).toContain(`-${short}, --${name}`);
    }
  });

  it("docs/manifests.md documents every flag", () => {
    const text = read("docs/manifests.md");
    const section = text.slice(
      text.indexOf("## Converting manifests"),
      text.indexOf("## Types of custom kinds"),
    );
    const rows = [
      ...section.matchAll(/^- (?:`-[a-zA-Z]`, )?`--([a-z-]+)` \([a-z]+(?:, default `([^`]+)`)?\): /gm),
    ];
    expect(rows.map((row) => [row[1], row[2] ?? ""])).toEqual(
      convertFlags.map(({ name, default: byDefault }) => [name, byDefault]),
    );
  });
});

it("docs/manifests.md shows notes of a conversion", async () => {
  const ingress = `apiVersion: networking.k8s.io/v1beta1
kind: Ingress
metadata: { name: web }
spec: { rules: [{ http: { paths: [{ backend: { serviceName: web, servicePort: 80 } }] } }] }`;
  const deployment = `apiVersion: extensions/v1beta1
kind: Deployment
metadata: { name: web }
spec:
  rollbackTo: { revision: 1 }
  template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: web }] } }`;
  const policy = "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: { name: strict }";
  const old = file("old.yaml", [yamlBudget("web"), ingress, deployment, policy].join("\n---\n"));
  const { lines } = await convert(["-f", old]);
  for (const shown of blockOf("docs/manifests.md", "text notes").trim().split("\n")) {
    const beginning = shown.replace("old.yaml", old).replace(/…$/, "");
    expect(lines.filter((line) => line.startsWith(beginning))).toHaveLength(1);
  }
});
