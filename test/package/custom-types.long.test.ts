import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/process.ts";
import { useInstalledPackage } from "./installed-package.ts";

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: tenants.acme.dev }
spec:
  group: acme.dev
  scope: Cluster
  names: { plural: tenants, kind: Tenant }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: { spec: { type: object, required: [seats], properties: { seats: { type: integer } } } }
`;

/** Uses the client; what must not compile has a comment that names the error. */
const program = `import { createServer, type ApiObject } from "plinth";
const { client } = await createServer({ port: false });
const tenant = { apiVersion: "acme.dev/v1", kind: "Tenant", name: "a" } as const;
export const seats: number | undefined = (await client.get(tenant)).spec?.seats;
const { items } = await client.list({ apiVersion: "acme.dev/v1", kind: "Tenant" });
export const all: (number | undefined)[] = items.map(({ spec }) => spec?.seats);
const listed = { apiVersion: "acme.dev/v1", kind: "Tenant", resourceVersion: "1" } as const;
client.watch(listed, ({ object }) => { const count: number | undefined = object.spec?.seats; void count; });
await client.waitFor(tenant, (one) => one?.spec?.seats === 3);
const metadata = { name: "a" };
const [applied] = await client.apply({ apiVersion: "acme.dev/v1", kind: "Tenant", metadata, spec: { seats: 1 } });
export const appliedSeats: number | undefined = applied.spec?.seats;
await client.create({ apiVersion: "acme.dev/v1", kind: "Tenant", metadata, spec: { seats: 1 } });
await client.create({ apiVersion: "acme.dev/v1", kind: "Tenant", metadata, spec: { seats: "one" } }); // TS2322
await client.get({ apiVersion: "acme.dev/v1", kind: "Tenent", name: "a" }); // TS2322
export const other: ApiObject = await client.get({ apiVersion: "other.dev/v1", kind: "Thing", name: "a" });
`;

/** The same for the types that the client infers from a definition of a declared kind. */
const inferring = `import { createServer, declareGroup, definitionOf } from "plinth";
const { kind, struct, field, int32, ObjectMeta } = declareGroup("acme.dev", "v1");
const Spec = struct("TenantSpec", "Seats.", { seats: field(1, int32, "Seats.").required() });
const fields = { metadata: field(1, ObjectMeta, "Metadata."), spec: field(2, Spec, "Seats.").required() };
const Tenant = kind({ name: "Tenant", resource: "tenants", singular: "tenant", scope: "Cluster", doc: "A tenant.", fields });
const server = await createServer({ port: false });
const client = server.client.withTypesOf(definitionOf(Tenant));
export const seats: number = (await client.get({ apiVersion: "acme.dev/v1", kind: "Tenant", name: "a" })).spec.seats;
await client.create({ apiVersion: "acme.dev/v1", kind: "Tenant", metadata: { name: "a" }, spec: { seats: "one" } }); // TS2322
`;

describe.each(["5.4.5", "5.9.3", "7.0.2"])("a project with TypeScript %s", (version) => {
  const installed = useInstalledPackage(`typescript@${version}`, "@types/node@20");

  /** Checks that a program has exactly the errors of its comments. */
  function compile(text: string, flags: readonly string[]): void {
    installed.write("program.ts", text);
    const tsc = path.join(installed.home, "node_modules/typescript/bin/tsc");
    const words = [tsc, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", ...flags];
    // Node's own declarations use those of disposables.
    const libraries = ["--lib", "es2023,esnext.disposable", "--types", "node"];
    const { stdout } = spawnSync(process.execPath, [...words, ...libraries, "program.ts"], {
      cwd: installed.home,
      encoding: "utf8",
    });
    const expected = text.split("\n").flatMap((line, index) => {
      const code = / \/\/ (TS\d+)$/.exec(line)?.[1];
      return code === undefined ? [] : [`program.ts(${index + 1}): ${code}`];
    });
    const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
    expect(errors.map((line) => line.replace(/^(\S+)\((\d+),\d+\): error (TS\d+).*$/, "$1($2): $3"))).toEqual(
      expected,
    );
  }

  it.each([[], ["--skipLibCheck"]])(
    "has the types that plinth types wrote in every method of the client %s",
    (...flags) => {
      installed.write("tenants.yaml", definition);
      const types = installed.node("node_modules/plinth/dist/plinth.js", "types", "-f", "tenants.yaml");
      installed.write("tenants.ts", types);
      compile(`import "./tenants.js";\n${program}`, flags);
    },
  );

  it.each([[], ["--skipLibCheck"]])("infers the types of a definition's objects %s", (...flags) =>
    compile(inferring, flags),
  );
});

it("the repository's own compiler is one of those", () => {
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  expect(devDependencies["typescript"]).toBe("7.0.2");
});
