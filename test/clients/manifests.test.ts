import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml, parseAllDocuments } from "yaml";
import { compareQuantities, parseQuantity, QuantityFault } from "../../src/base/quantity.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import { decode } from "../../src/schema/decode.ts";
import { groupName } from "../../src/schema/kind.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { kindInVocabulary } from "../../src/schema/kind-in-vocabulary.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { TestServer } from "../support/api.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";
import { effort } from "../support/effort.ts";

/** Manifests of real programs, if the folder exists beside the project. */
const root = fileURLToPath(new URL("../../../shared/manifests", import.meta.url));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly items?: readonly Manifest[];
  readonly [field: string]: unknown;
}

const apiVersionOf = (kind: (typeof builtInKinds)[number]) => {
  const group = groupName(kind.group, kubernetes);
  return group === "" ? kind.version : `${group}/${kind.version}`;
};
const kindOf = ({ apiVersion, kind }: Manifest) =>
  builtInKinds.find((one) => one.name === kind && apiVersionOf(one) === apiVersion);

/** Every object of a folder, with lists expanded. Namespaces and definitions come first. */
function objectsIn(folder: string): Manifest[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.ya?ml$/.test(name),
  );
  const documents = files
    .toSorted()
    .flatMap((name) => parseAllDocuments(readFileSync(path.join(folder, name), "utf8")))
    .map((document) => document.toJS() as Manifest | null)
    .filter((one): one is Manifest => one !== null);
  const objects = documents.flatMap((one) => one.items ?? [one]);
  const rank = ({ kind }: Manifest) =>
    kind === "Namespace" ? 0 : kind === "CustomResourceDefinition" ? 1 : 2;
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly plural: string; readonly kind: string };
  };
}

/** The resource name and scope of an object's kind: built-in, or defined by the manifests. */
function typeOf(object: Manifest, all: readonly Manifest[]): { plural: string; scope: string } | undefined {
  const kind = kindOf(object);
  if (kind !== undefined) return { plural: kind.resource, scope: kind.scope };
  const found = all
    .filter((one) => one.kind === "CustomResourceDefinition")
    .map((one) => (one as unknown as Definition).spec)
    .find(({ group, names }) => group === object.apiVersion.split("/")[0] && names.kind === object.kind);
  return found && { plural: found.names.plural, scope: found.scope };
}

/** Paths of sent values that are missing in the result; quantities may have another notation, and empty equals absent. */
function missing(sent: unknown, found: unknown, at = ""): string[] {
  if (sent === null || sent === "" || sent === false || sent === 0) return found ? [at] : [];
  if (Array.isArray(sent)) {
    if (sent.length === 0) return [];
    if (!Array.isArray(found) || found.length !== sent.length) return [at];
    return sent.flatMap((item, index) => missing(item, found[index], `${at}[${index}]`));
  }
  if (typeof sent === "object") {
    if (Object.keys(sent).length === 0) return [];
    if (typeof found !== "object" || found === null) return [at];
    return Object.entries(sent).flatMap(([name, value]) =>
      missing(value, (found as Record<string, unknown>)[name], `${at}.${name}`),
    );
  }
  return sent === found || sameQuantity(sent, found) ? [] : [at];
}

function sameQuantity(a: unknown, b: unknown): boolean {
  try {
    return compareQuantities(parseQuantity(String(a)), parseQuantity(String(b))) === 0;
  } catch (error) {
    if (error instanceof QuantityFault) return false;
    throw error;
  }
}

/** The object as the server returns it: `stringData` is written to `data`. */
function expected(sent: Manifest): Manifest {
  const { stringData, ...rest } = sent as Manifest & { stringData?: Record<string, string> };
  if (stringData === undefined) return rest;
  const data = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  return { ...rest, data: Object.fromEntries(data) as Record<string, string> } as Manifest;
}

/** The content of an object in the binary encoding. */
function decoded(builtIn: (typeof builtInKinds)[number], bytes: Buffer): unknown {
  const { type } = kindInVocabulary(builtIn, kubernetes);
  const { apiVersion, kind, message } = openEnvelope(bytes);
  return decode(type, { ...decodeMessage(type, message), apiVersion, kind }).value;
}

/** In short without the program whose definitions take most of the time. */
const folders = (existsSync(root) ? readdirSync(root) : []).filter((name) =>
  effort(name !== "kube-prometheus", true),
);
if (folders.length === 0) {
  describe.skip("real manifests: skipped, because ../shared/manifests is absent", () => {
    it("needs the manifests", () => undefined);
  });
}

for (const name of folders) {
  describeKubectl(`the manifests of ${name}`, (program) => {
    const objects = objectsIn(path.join(root, name));
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

    const list = (items: readonly Manifest[]) => ({
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    });
    const pathOf = (object: Manifest) => {
      const { plural, scope } = typeOf(object, objects)!;
      const base = object.apiVersion === "v1" ? "/api/v1" : `/apis/${object.apiVersion}`;
      const space = scope === "Namespaced" ? `/namespaces/${object.metadata.namespace ?? "default"}` : "";
      return `${base}${space}/${plural}/${object.metadata.name}`;
    };

    it("have only kinds that this server has or that they define", () => {
      expect(objects.length).toBeGreaterThan(30);
      expect(objects.filter((one) => typeOf(one, objects) === undefined)).toEqual([]);
    });

    it(
      "can be applied, by dry run and for real, and again without a change",
      { timeout: 120_000 },
      async () => {
        const first = objects.filter(({ kind }) => kind === "Namespace");
        if (first.length > 0) await kubectl.ok(["apply", "-f", "-"], list(first));
        // Large definitions exceed the annotation in which the client keeps the applied configuration.
        const large = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
        if (large.length > 0) {
          await kubectl.ok(["create", "-f", "-"], list(large));
          await kubectl.ok(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
        }
        const others = objects.filter(({ kind }) => kind !== "CustomResourceDefinition");
        await kubectl.ok(["apply", "--dry-run=server", "-f", "-"], list(others));
        const made = await kubectl.ok(["apply", "-f", "-"], list(others));
        expect(made.trim().split("\n")).toHaveLength(others.length);
        const versions = async () =>
          Promise.all(
            others.map(async (one) => (await server.admin.get(pathOf(one))).body.metadata.resourceVersion),
          );
        const before = await versions();
        // The client can't always detect that nothing changes; the server can.
        await kubectl.ok(["apply", "-f", "-"], list(others));
        expect(await versions()).toEqual(before);
      },
    );

    it.each(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object] as const))(
      "%s is returned as it was sent, in every encoding and as a table",
      async (_title, object) => {
        const sent = expected(object);
        const builtIn = kindOf(object);
        const place = pathOf(object);
        const json = await server.admin.get(place);
        expect(missing(sent, json.body)).toEqual([]);
        const yaml = await server.admin.get(place, { accept: "application/yaml" });
        expect(parseYaml(yaml.text)).toEqual(json.body);
        const binary = await server.admin.get(place, { accept: kubernetes.protobufMediaType });
        if (builtIn === undefined) expect(binary.status).toBe(406);
        else expect(missing(sent, decoded(builtIn, binary.bytes))).toEqual([]);
        const accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
        const { body } = await server.admin.get(place, { accept });
        expect(body.rows).toHaveLength(1);
        expect(body.rows[0].cells).toHaveLength(body.columnDefinitions.length);
        expect(body.rows[0].cells[0]).toBe(object.metadata.name);
      },
    );
  });
}
