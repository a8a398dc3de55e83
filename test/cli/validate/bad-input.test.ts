import { expect, test } from "vitest";
import { deployment, problemLines, reportOf, validateFiles, type Files } from "./support.ts";

const map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

test.each<[string, Files, string]>([
  ["a tab", { "a.yaml": "a:\n\t- b\n" }, "a.yaml:2:1 error syntax : tabs are not allowed as indentation"],
  [
    "a binary file",
    { "a.yaml": Buffer.from([1, 2, 0, 3]) },
    "a.yaml:1:1 error syntax : a binary file, not a manifest",
  ],
  [
    "bytes that are no text",
    { "a.yaml": Buffer.from([0x61, 0xff, 0xfe]) },
    "a.yaml:1:2 error syntax : the text is not valid UTF-8",
  ],
  [
    "a template",
    { "a.yaml": `${map}---\n# a comment\nname: {{ .Values.name }}\n` },
    "a.yaml:7:7 error syntax : a template that is not rendered: {{ .Values.name }}; validate the output of its program, such as helm template",
  ],
  [
    "a document without kind",
    { "a.yaml": "apiVersion: v1\n" },
    "a.yaml:1:1 error syntax : not a manifest: kind is missing",
  ],
  [
    "values",
    { "values.yaml": "replicas: 1\n" },
    "values.yaml:1:1 error syntax : not a manifest: apiVersion and kind are missing",
  ],
  ["a list", { "a.yaml": "- a\n" }, "a.yaml:1:1 error syntax : not a manifest: a list, not an object"],
  ["a text", { "a.json": '"a"' }, "a.json:1:1 error syntax : not a manifest: a single value, not an object"],
  [
    "an empty file",
    { "a.yaml": "# nothing\n" },
    "a.yaml:1:1 error syntax : no manifest: the file has no document",
  ],
  [
    "JSON that ends early",
    { "a.json": '{"apiVersion": "v1",\n' },
    "a.json:2:1 error syntax : flow map must end with a }",
  ],
  [
    "an unknown alias",
    { "a.yaml": `${map}data: *b\n` },
    "a.yaml:5:7 error syntax : alias *b has no anchor &b before it",
  ],
  [
    "a repeated key",
    { "a.yaml": `${map}data: {a: b}\ndata: {c: d}\n` },
    'a.yaml:6:1 error schema data: duplicate field "data"',
  ],
])("reports %s with its file and line, and validates the rest", async (_what, files, line) => {
  const report = await reportOf({ ...files, "z.yaml": deployment.replace("replicas: 2", "replica: 2") });
  expect(problemLines(report)).toEqual([
    line,
    'z.yaml:6:3 error schema spec.replica: unknown field "spec.replica"',
  ]);
});

test("accepts anchors, merge keys, a byte order mark and CRLF, with positions in the file", async () => {
  const report = await reportOf({
    "a.yaml":
      `\uFEFF${map}  labels: &labels { app: web }\n  annotations:\n    <<: *labels\n    b: 1\n`.replaceAll(
        "\n",
        "\r\n",
      ),
  });
  expect(problemLines(report)).toEqual([
    "a.yaml:8:5 error schema metadata.annotations.b: expected a string, got a number",
  ]);
});

test("leaves out files of kustomize and charts", async () => {
  const report = await reportOf({
    "kustomization.yaml":
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "a.yaml": map,
  });
  expect(report.objects.map(({ kind }) => kind)).toEqual(["ConfigMap"]);
});

test("reports a file that isn't there, and exits with 1 without an object", async () => {
  const { code, output } = await validateFiles({ "a.yaml": map }, ["$DIR/none.yaml", "$DIR/a.yaml"]);
  expect(output).toContain("./none.yaml:1:1: error: document: there is no such file or folder (syntax)");
  expect(code).toBe(1);
  expect((await validateFiles({ "Chart.yaml": "apiVersion: v2\nversion: 1\n" })).code).toBe(1);
});
