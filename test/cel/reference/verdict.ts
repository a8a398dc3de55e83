import { bind } from "../../../src/cel/compile.ts";
import type { JsonValue } from "../../../src/base/json/value.ts";
import { rulesOf, type RuleNode } from "../../../src/kinds/apiextensions/rule-tree.ts";
import { parseSchema } from "../../../src/schema/custom/schema-node.ts";
import type { Answer, TestServer } from "../../support/api.ts";
import type { Json, ReferenceCase } from "./case.ts";

/** Validation errors of a definition and of each object: reasons and fields of the causes. Empty if valid. */
export interface Verdict {
  readonly definition: readonly string[];
  /** Estimated costs of the rules of the spec; absent if the schema or a rule is invalid. */
  readonly estimates?: readonly string[];
  readonly objects?: readonly (readonly string[])[];
  /** Costs of the rules of the spec for each created object. */
  readonly costs?: readonly (readonly number[])[];
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const prefix = "x-kubernetes-";

/** Returns the verdict of a server with the kubernetes vocabulary; deletes the definition afterwards. */
export async function verdictOf(server: TestServer, one: ReferenceCase, index: number): Promise<Verdict> {
  const plural = `cases${index}`;
  const group = "cel.example.com";
  const { admin } = server;
  const created = await admin.post(definitions, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { plural, kind: `Case${index}` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: one.schema } }],
    },
  });
  const definition = causesOf(created);
  const rules = isInvalid(definition) ? undefined : specRules(one.schema);
  const estimates = rules === undefined ? {} : { estimates: estimatesOf(rules) };
  if (definition.length > 0) return { definition, ...estimates };
  const path = `/apis/${group}/v1/${plural}`;
  await until(async () => (await admin.get(path)).status === 200);
  const objects: string[][] = [];
  const named = (object: Json) => ({ ...object, kind: `Case${index}` });
  const old = one.old && (await admin.post(path, named(one.old))).body;
  for (const object of one.objects) {
    const answer =
      one.old === undefined
        ? await admin.post(`${path}?dryRun=All`, named(object))
        : await admin.put(`${path}/one?dryRun=All`, { ...named(object), metadata: old.metadata });
    objects.push(causesOf(answer));
  }
  await admin.delete(`${definitions}/${plural}.${group}`);
  const costs = one.old === undefined ? { costs: one.objects.map((object) => costsOf(rules, object)) } : {};
  return { definition, ...estimates, objects, ...costs };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error("the kind isn't served");
  }
}

/** Path of the schema in the causes of a definition: in the only version, or in the field for all versions. */
const schemaPath = /^spec\.(?:versions\[0\]\.schema|validation)\.openAPIV3Schema\.?/;

function causesOf({ status, body, text }: Answer): string[] {
  if (status < 300) return [];
  if (status !== 422) return [`${status} ${text}`];
  const causes = body.details.causes as readonly { readonly reason: string; readonly field?: string }[];
  return causes
    .map(({ reason, field = "" }) => `${reason} ${field.replace(schemaPath, "")}`.trim())
    .toSorted();
}

function isInvalid(causes: readonly string[]): boolean {
  return causes.some((cause) => !cause.startsWith("FieldValueForbidden"));
}

function specRules(schema: Json): RuleNode | undefined {
  return rulesOf(parseSchema(schema, prefix))?.properties.get("spec");
}

function estimatesOf({ rules, type }: RuleNode): string[] {
  return rules.map(({ compiled }) => String(compiled.program?.estimateCost(type!.type).max));
}

/** Costs above the limit of an evaluation are equal. */
const beyondLimit = 1_000_001;

function costsOf(node: RuleNode | undefined, { spec }: Json): number[] {
  if (node === undefined || spec === undefined || spec === null) return [];
  return node.rules.flatMap(({ compiled: { program }, environment }) => {
    if (program === undefined || program.variables.has("oldSelf")) return [];
    const { cost } = program.evaluate(bind(environment(), { self: spec as JsonValue }), Infinity);
    return [Math.min(cost, beyondLimit)];
  });
}
