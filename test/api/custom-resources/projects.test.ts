import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Answer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { whenServed } from "./support.ts";

/**
 * Definitions with the features of well-known public projects (written for this test), each with objects and the responses of
 * the reference, release 1.26, to the same requests. Causes are compared as a set: the reference returns them in no order.
 * Server-specific members (uid, times, messages) are left out.
 */
interface Project {
  readonly features: string;
  readonly definition: Definition;
  /** The causes of a rejected definition; absent if it is accepted. */
  readonly refused?: readonly string[];
  readonly conditions?: readonly string[];
  readonly resources?: readonly { readonly version: string; readonly list: readonly object[] }[];
  readonly samples?: readonly Sample[];
  /** Merge patches of the first sample. */
  readonly updates?: readonly { readonly patch: object; readonly answer: Expected }[];
  readonly invalid?: readonly { readonly object: Sent; readonly answer: Expected }[];
  readonly tables?: readonly {
    readonly version: string;
    readonly columns: readonly string[];
    readonly rows: readonly string[];
  }[];
  readonly scale?: object;
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly plural: string; readonly kind: string };
    readonly versions: { readonly name: string; readonly schema: { readonly openAPIV3Schema: object } }[];
  };
}

interface Sent {
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
}

interface Sample {
  readonly object: Sent;
  readonly created: Expected;
  /** The result of a later apply by another manager with force; absent if the reference fails. */
  readonly applied?: Expected;
}

interface Expected {
  readonly code: number;
  readonly warnings?: number;
  readonly causes?: readonly string[];
  readonly generation?: number;
  readonly owners?: readonly { readonly manager: string; readonly fields: string }[];
  readonly [member: string]: unknown;
}

const folder = path.join(import.meta.dirname, "projects");
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const files = readdirSync(folder).toSorted();

const server = useServer({ vocabulary: "kubernetes", enabledControllers: [] });

const causesOf = ({ body }: Answer): string[] =>
  (body.details?.causes ?? [])
    .map(
      ({ field, reason }: { field: string; reason: string }) =>
        `${field} ${reason.replace("FieldValue", "")}`,
    )
    .toSorted();

/** A response in the form of the expected ones. */
function answerOf(answer: Answer, expected: Expected): unknown {
  const { status: code, body, warnings } = answer;
  if (code >= 300) return { code, causes: causesOf(answer) };
  if (Object.keys(expected).length === 1) return { code };
  const { apiVersion, kind, metadata, ...rest } = withoutTexts(body) as Record<string, unknown>;
  expect([apiVersion, kind]).toEqual([body.apiVersion, body.kind]);
  const managed = body.metadata.managedFields as { manager: string; operation: string; fieldsV1: object }[];
  return {
    code,
    warnings: warnings.length,
    generation: (metadata as { generation: number }).generation,
    ...rest,
    owners: managed.map(({ manager, operation, fieldsV1 }) => ({
      manager,
      operation,
      fields: JSON.stringify(fieldsV1),
    })),
  };
}

const texts: ReadonlySet<string> = new Set(["description", "lastTransitionTime", "message", "time"]);

function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([name]) => !texts.has(name));
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutTexts(one)]));
}

const isAge = (cell: unknown) => typeof cell === "string" && /^\d+(ms|[smhdy](\d+[smhd])?)$/.test(cell);

describe.each(files)("%s", (file) => {
  const project = parse(readFileSync(path.join(folder, file), "utf8")) as Project;
  const { definition, samples = [], updates = [], invalid = [] } = project;
  const { group, names, scope } = definition.spec;
  const pathOf = (apiVersion: string): string =>
    `/apis/${apiVersion}/${scope === "Cluster" ? "" : "namespaces/default/"}${names.plural}`;

  test(`${project.features}: the definition is answered like in the reference`, async () => {
    const made = await server.admin.post(definitions, definition);
    expect(causesOf(made)).toEqual(project.refused ?? []);
    if (project.refused !== undefined) return;
    expect(made.status).toBe(201);
    for (const { name } of definition.spec.versions) {
      await whenServed(server.admin, definition as Parameters<typeof whenServed>[1], name);
    }
    const { body } = await server.admin.get(`${definitions}/${definition.metadata.name}`);
    const conditions = body.status.conditions.map((one: Record<string, string>) =>
      [one["type"], one["status"], one["reason"]].join(" "),
    );
    expect(conditions.toSorted()).toEqual(project.conditions);
    for (const { version, list } of project.resources ?? []) {
      const { resources } = (await server.admin.get(`/apis/${group}/${version}`)).body;
      for (const one of resources) delete one.storageVersionHash;
      expect(resources).toEqual(list);
    }
  });

  if (project.refused !== undefined) return;

  test("creating, applying and listing its objects matches the reference", async () => {
    const { admin } = server;
    for (const { object, created, applied } of samples) {
      const at = `${pathOf(object.apiVersion)}?fieldManager=m&fieldValidation=Warn`;
      expect(answerOf(await admin.post(at, object), created)).toEqual(created);
      const { name } = object.metadata;
      const answer = await admin.ask(
        "PATCH",
        `${pathOf(object.apiVersion)}/${name}?fieldManager=n&force=true`,
        {
          contentType: "application/apply-patch+yaml",
          body: { ...object, metadata: { name } },
        },
      );
      if (applied !== undefined) expect(answerOf(answer, applied)).toEqual(applied);
    }
    for (const { version, columns, rows } of project.tables ?? []) {
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
      const { body } = await admin.get(pathOf(`${group}/${version}`), { accept });
      const shown = body.columnDefinitions.map(
        (one: Record<string, string>) => `${one["name"]} ${one["type"]} ${one["format"]} ${one["priority"]}`,
      );
      expect(shown).toEqual(columns);
      const cells = (body.rows as { cells: unknown[] }[]).map((row) =>
        JSON.stringify(row.cells.map((cell) => (isAge(cell) ? "<age>" : cell))),
      );
      expect(cells).toEqual(rows);
    }
    const { spec, status } =
      project.scale === undefined
        ? {}
        : (await admin.get(`${pathOf(samples[0]!.object.apiVersion)}/a/scale`)).body;
    expect({ spec, status }).toEqual(project.scale ?? {});
  });

  test("invalid objects are rejected like in the reference", async () => {
    for (const { object, answer } of invalid) {
      const found = await server.admin.post(`${pathOf(object.apiVersion)}?dryRun=All`, object);
      expect(answerOf(found, answer)).toEqual(answer);
    }
    for (const { patch, answer } of updates) {
      const { apiVersion, metadata } = samples[0]!.object;
      const found = await server.admin.patch(`${pathOf(apiVersion)}/${metadata.name}?dryRun=All`, patch);
      expect(answerOf(found, answer)).toEqual(answer);
    }
  });
});
