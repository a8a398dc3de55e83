import { describe, expect, it, test } from "vitest";
import { deployment, problemLines, rangeDefinition, reportOf, validateFiles } from "./support.ts";

describe("plinth validate", () => {
  it("accepts manifests without problems with exit code 0 and a summary", async () => {
    const run = await validateFiles({ "web.yaml": deployment });
    expect(run).toEqual({
      code: 0,
      output: "1 object, 1 accepted, 0 rejected, 0 warnings (release 1.26)\n",
      errors: "",
    });
  });

  it("shows each problem with its position, object, field, message, rule and source line", async () => {
    const { code, output } = await validateFiles({
      "web.yaml": deployment.replace("replicas: 2", "replicas: -1\n  replica: 3"),
    });
    expect(code).toBe(1);
    expect(output).toBe(`./web.yaml:7:3: error: Deployment web: unknown field "spec.replica" (schema)
  7 |   replica: 3
    |   ^
./web.yaml:6:3: error: Deployment web: spec.replicas: Invalid value: -1: must be greater than or equal to 0 (validation)
  6 |   replicas: -1
    |   ^
1 object, 0 accepted, 1 rejected, 0 warnings (release 1.26)
`);
  });

  it("reports unknown, repeated and mistyped fields of one object together with broken rules", async () => {
    const report = await reportOf({
      "web.yaml": deployment
        .replace("replicas: 2", "replicas: two\n  paused: maybe\n  paused: 1")
        .replace("name: http", "name: http\n              portName: x")
        .replace("8080", "80800"),
    });
    expect(problemLines(report)).toEqual([
      'web.yaml:8:3 error schema spec.paused: duplicate field "spec.paused"',
      "web.yaml:6:3 error schema spec.replicas: expected a 32-bit integer, got a string",
      "web.yaml:7:3 error schema spec.paused: expected a boolean, got a number",
      'web.yaml:22:15 error schema spec.template.spec.containers[0].ports[0].portName: unknown field "spec.template.spec.containers[0].ports[0].portName"',
      "web.yaml:23:15 error validation spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 80800: must be between 1 and 65535, inclusive",
    ]);
  });

  it("judges custom objects by definitions in any file, and names the rule in CEL with its line", async () => {
    const range = (name: string, spec: string) =>
      `apiVersion: example.com/v1\nkind: Range\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
    const report = await reportOf({
      "a.yaml": [
        range("good", "{ max: 1 }"),
        range("cel", "{ min: 2, max: 1 }"),
        range("schema", "{ max: one, mode: half, maxx: 1 }"),
        range("none", "{}"),
      ].join("---\n"),
      "z/definition.yaml": rangeDefinition,
    });
    expect(problemLines(report)).toEqual([
      'a.yaml:9:1 error cel spec: Invalid value: "object": min must not exceed max',
      'a.yaml:14:31 error schema spec.maxx: unknown field "spec.maxx"',
      'a.yaml:14:9 error schema spec.max: Invalid value: "string": spec.max in body must be of type integer: "string"',
      'a.yaml:14:19 error schema spec.mode: Unsupported value: "half": supported values: "open", "closed"',
      "a.yaml:19:1 error schema spec.max: Required value",
    ]);
    const [source] = report.objects.flatMap(({ problems }) => problems.flatMap((one) => one.source ?? []));
    expect(source).toMatchObject({ text: "self.min <= self.max", location: { line: 21, column: 19 } });
  });

  test.each([
    ["policy/v1beta1", "PodDisruptionBudget", ": removed in 1.25; use policy/v1 PodDisruptionBudget"],
    ["resource.k8s.io/v1", "ResourceClaim", ": served from release 1.34 on"],
    ["apps/v1", "Deploymet", ": did you mean Deployment?"],
    ["apps/v1beta9", "Deployment", ": did you mean apps/v1?"],
    ["example.com/v1", "Thing", ": there is no CustomResourceDefinition of it"],
  ])("says why %s %s is not served", async (apiVersion, kind, hint) => {
    const report = await reportOf({
      "a.yaml": `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\n`,
    });
    expect(problemLines(report)).toEqual([
      `a.yaml:1:1 error kind apiVersion: no matches for kind "${kind}" in version "${apiVersion}"${hint}`,
    ]);
  });

  it("takes context from --with, reads standard input, and names rejected objects with --output=name", async () => {
    const files = { "crds/range.yaml": rangeDefinition };
    const input = "apiVersion: example.com/v1\nkind: Range\nmetadata: {name: r}\nspec: {max: -1}\n";
    const run = await validateFiles(files, ["-", "--with=$DIR/crds", "-o", "name"], input);
    expect(run).toMatchObject({ code: 1, output: "range.example.com/r\n" });
  });

  it("reads the items of lists", async () => {
    const item = (name: string, data: string) =>
      `  - {apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: ${data}}\n`;
    const report = await reportOf({
      "list.yaml": `apiVersion: v1\nkind: List\nitems:\n${item("a", "{x: why}")}${item("b", "{x: 1}")}`,
      "typed.yaml": "apiVersion: v1\nkind: ConfigMapList\nitems:\n  - metadata: {name: c}\n    dat: {}\n",
    });
    expect(problemLines(report)).toEqual([
      "list.yaml:5:67 error schema data.x: expected a string, got a number",
      'typed.yaml:5:5 error schema dat: unknown field "dat"',
    ]);
  });

  it("warns of an object that occurs twice", async () => {
    const map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    const report = await reportOf({ "a.yaml": map, "b.yaml": map });
    expect(report.accepted).toBe(true);
    expect(problemLines(report)[0]).toMatch(
      /^b.yaml:\d:\d warning duplicate metadata.name: the same object occurs before: .*a.yaml:1;/,
    );
  });

  it("accepts objects that a server has by default, and rejects wrong changes of them", async () => {
    const report = await reportOf({
      "a.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n",
      "b.yaml":
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: view}\nrules: [{verbs: [get]}]\n",
    });
    expect(problemLines(report).map((line) => line.slice(0, 45))).toEqual([
      "b.yaml:4:9 error validation rules[0].apiGroup",
      "b.yaml:4:9 error validation rules[0].resource",
    ]);
  });

  it("refuses wrong flags with the allowed values", async () => {
    const run = (...words: string[]) => validateFiles({}, words);
    await expect(run()).rejects.toThrow("name the manifests: files, folders, or - for standard input");
    await expect(run("$DIR", "--release=1.99")).rejects.toThrow('--release: "1.99" is not one of 1.26, 1.27');
    await expect(run("$DIR", "--output=xml")).rejects.toThrow(
      '--output: "xml" is not one of text, json, junit',
    );
    await expect(run("$DIR", "--references=no")).rejects.toThrow(
      '--references: "no" is not one of warning, error, ignore',
    );
    await expect(run("$DIR", "--pod-security=high")).rejects.toThrow("privileged, baseline, restricted");
    await expect(run("$DIR", "--groups=a")).rejects.toThrow("--groups is given with --as only");
    await expect(run("-", "--watch")).rejects.toThrow("--watch: standard input can't be watched");
    await expect(run("$DIR", "--with=$DIR/none")).rejects.toThrow("there is no such file or folder");
  });
});
