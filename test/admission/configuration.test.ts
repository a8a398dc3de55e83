import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readAdmissionConfiguration } from "../../src/admission/configuration.ts";
import { struct } from "../../src/schema/meta.ts";
import { field, string } from "../../src/schema/types.ts";
import { readFile } from "node:fs/promises";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const form = {
  type: struct("Colours", "For a test.", {
    kind: field(undefined, string, "Colours."),
    apiVersion: field(undefined, string, "Version."),
    colour: field(undefined, string, "A colour."),
  }),
  kind: "Colours",
  apiVersions: ["colours.example.com/v1"],
};
const colours = (colour: string) => ({ kind: "Colours", apiVersion: "colours.example.com/v1", colour });

let files = 0;
function write(value: unknown, name = `file-${files++}.yaml`): string {
  const file = path.join(folder.path, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
  return file;
}
const configuration = (plugins: unknown, apiVersion = "apiserver.config.platform.io/v1") =>
  write({ kind: "AdmissionConfiguration", apiVersion, plugins });
const read = (file: string, vocabulary = platform) =>
  readAdmissionConfiguration(file, (one) => readFile(one), vocabulary);

describe("the admission configuration file", () => {
  test("C-2.9-20 is an AdmissionConfiguration of apiserver.config.<domain>/v1, in YAML or JSON", async () => {
    const yaml = write(
      "apiVersion: apiserver.config.platform.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: A\n  configuration: {}\n",
    );
    expect([...(await read(yaml)).value.keys()]).toEqual(["A"]);
    expect([...(await read(configuration([{ name: "B", configuration: {} }]))).value.keys()]).toEqual(["B"]);
    expect((await read(configuration(undefined))).value.size).toBe(0);
    expect((await read(configuration([], "apiserver.config.platform.io/v1alpha1"))).value.size).toBe(0);
    expect((await read(configuration([], "apiserver.platform.io/v1alpha1"))).value.size).toBe(0);
    expect((await read(configuration([], "apiserver.k8s.io/v1alpha1"), kubernetes)).value.size).toBe(0);
    const theirs = configuration([], "apiserver.config.k8s.io/v1");
    expect((await read(theirs, kubernetes)).value.size).toBe(0);
    await expect(read(theirs)).rejects.toThrow(
      'kind and apiVersion: found "AdmissionConfiguration" of "apiserver.config.k8s.io/v1", ' +
        'expected "AdmissionConfiguration" of "apiserver.config.platform.io/v1"',
    );
  });

  test("C-2.9-21 the configuration of a plugin is in a separate file or inline", async () => {
    write(colours("red"), "below/red.yaml");
    const { value } = await read(
      configuration([
        { name: "InFile", path: "below/red.yaml" },
        { name: "Whole", path: write(colours("green")) },
        { name: "Inline", configuration: colours("blue") },
      ]),
    );
    const colourOf = async (name: string) => (await value.get(name)!.read(form)).value.colour;
    expect(await colourOf("InFile")).toBe("red");
    expect(await colourOf("Whole")).toBe("green");
    expect(await colourOf("Inline")).toBe("blue");
    const other = { ...form, kind: "Sounds" };
    await expect(value.get("Inline")!.read(other)).rejects.toThrow('found "Colours" of');
    await expect(value.get("InFile")!.read(other)).rejects.toThrow('found "Colours" of');
  });

  test.each<[string, unknown, string]>([
    ["a plugin without a name", [{ configuration: {} }], "plugins[0].name: Required value"],
    [
      "a duplicate plugin",
      [
        { name: "A", configuration: {} },
        { name: "A", configuration: {} },
      ],
      'plugins[1].name: Duplicate value: "A"',
    ],
    [
      "a plugin without path and configuration",
      [{ name: "A" }],
      "plugins[0].path: Required value: or a configuration",
    ],
    [
      "a plugin with both path and configuration",
      [{ name: "A", path: "x", configuration: {} }],
      "plugins[0].configuration: Forbidden: must not be set together with path",
    ],
    ["plugins that are not a list", { name: "A" }, "plugins"],
    ["a name that is not a string", [{ name: 1, path: "x" }], "plugins[0].name"],
  ])("%s: rejected with an error that names the field", async (_, plugins, message) => {
    await expect(read(configuration(plugins))).rejects.toThrow(message);
  });

  test("an unknown field is refused with its line", async () => {
    const file = configuration([{ name: "A", configuration: {}, colour: "red" }]);
    await expect(read(file)).rejects.toThrow("plugins[0].colour: there is no such field (line 1)");
  });
});

describe("plinth serve --admission-control-config-file", () => {
  const serve = (file: string, ...flags: string[]) =>
    plinthHere(
      "serve",
      "--secure-port=0",
      `--data-dir=${path.join(folder.path, "data")}`,
      `--admission-control-config-file=${file}`,
      ...flags,
    );

  test.each<[string, () => string, string]>([
    ["a missing file", () => "/nowhere/admission.yaml", "/nowhere/admission.yaml: the file doesn't exist"],
    ["an empty file", () => write(""), "the file is empty"],
    ["malformed YAML", () => write("a: [1"), "can't be parsed"],
    [
      "an unknown plugin",
      () => configuration([{ name: "Nope", configuration: {} }]),
      'unknown admission plugin "Nope"',
    ],
    [
      "a missing file of a plugin",
      () => configuration([{ name: "EventRateLimit", path: "gone.yaml" }]),
      `admission plugin EventRateLimit: ${path.join(folder.path, "gone.yaml")}: the file doesn't exist`,
    ],
  ])("%s: exits with code 2 and names the flag and the cause", async (_, file, message) => {
    const { code, stderr } = await serve(file(), "--enable-admission-plugins=EventRateLimit");
    expect(stderr).toContain(message);
    expect(stderr).toContain("--admission-control-config-file");
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(2);
  });
});
