import { groupName } from "../../src/schema/kind.ts";
import { apiextensions } from "../../src/kinds/groups.ts";
import { customKindSchema } from "../custom-kind-schema.ts";
import { getText, writeText } from "../load/http-text.ts";
import { sequenceMark, type RequestPlan } from "../load/plan.ts";
import { measureInTurns, type Side, type Unit } from "../measure.ts";
import { objectName } from "../objects.ts";
import { ratioRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, vocabularyOf, type Subject } from "../subject.ts";
import { deployment, deploymentsPath } from "../workloads.ts";

/** What is listed; writes go round the first of them. */
const objects = 10_000;
const written = 64;
const writers = 16;
const watchers = 100;
const aim = 0.8;

const group = "bench.example.com";
const apiVersion = `${group}/v1`;
const kind = "Workload";
const plural = "workloads";

/** One of the two kinds that are compared. */
interface Compared {
  readonly path: string;
  /** An object of the name; the mark stands in one of its fields. */
  object(name: string, mark?: string): object;
}

/** One kind of load on both. */
interface Load {
  readonly name: string;
  readonly unit: string;
  readonly counts?: Unit;
  readonly connections: number;
  readonly watchers?: number;
  request(compared: Compared, token: string): RequestPlan;
}

const loads: readonly Load[] = [
  {
    name: "get, 5 KB",
    unit: "/s",
    connections: 16,
    request: ({ path }, token) => ({ kind: "same", text: getText(`${path}/${objectName(0)}`, token) }),
  },
  {
    name: "list, 10,000 x 5 KB",
    unit: "lists/s",
    connections: 4,
    request: ({ path }, token) => ({ kind: "same", text: getText(path, token) }),
  },
  {
    name: "create, 5 KB, 16 connections",
    unit: "/s",
    connections: writers,
    request({ path, object }, token) {
      const body = JSON.stringify(object(`new-${sequenceMark}`));
      return { kind: "numbered", objects: written, text: writeText("POST", path, token, body) };
    },
  },
  {
    name: "apply, one field changed, 16 connections",
    unit: "/s",
    connections: writers,
    request({ path, object }, token) {
      const body = JSON.stringify(object(objectName("next"), sequenceMark));
      const target = `${path}/${objectName("next")}?fieldManager=bench&force=true`;
      return {
        kind: "numbered",
        objects: written,
        text: writeText("PATCH", target, token, body, "apply-patch"),
      };
    },
  },
  {
    name: `watch, ${watchers} watchers`,
    unit: "events/s",
    counts: "frames",
    connections: writers,
    watchers,
    request({ path }, token) {
      const body = JSON.stringify({ metadata: { annotations: { mark: sequenceMark } } });
      const text = writeText("PATCH", `${path}/${objectName("next")}`, token, body);
      return { kind: "numbered", objects: written, text };
    },
  },
];

/**
 * A custom kind beside a built-in one, on the same server: deployments of 5 KB, and objects of a custom kind with the same spec,
 * whose schema has a type for each of its fields. The limit is the built-in kind.
 */
export const customKind: Scenario = {
  name: "custom",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "custom");
    try {
      const [builtIn, custom] = await prepare(bench, subject);
      for (const load of loads) yield await compare(bench, subject, load, builtIn, custom);
    } finally {
      await subject.api.try("DELETE", `${definitionsPath(bench)}/${plural}.${group}`);
      await subject.close();
    }
  },
};

async function compare(
  { options }: Bench,
  { address, api, pid, token }: Subject,
  { name, unit, counts = "answers", connections, watchers: count, request }: Load,
  builtIn: Compared,
  custom: Compared,
): Promise<Row> {
  const sideOf = async (compared: Compared): Promise<Side> => {
    const { path } = compared;
    const { metadata } = JSON.parse((await api.ask("GET", `${path}?limit=1`)).toString("utf8")) as {
      metadata: { resourceVersion: string };
    };
    const text = getText(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`, token);
    const plan = { address, connections, request: request(compared, token) };
    return { name: path, pid, plan: count === undefined ? plan : { ...plan, watchers: { count, text } } };
  };
  const sides = [await sideOf(builtIn), await sideOf(custom)];
  const [limit, own] = await measureInTurns(sides, counts, options.rounds, options.seconds);
  return ratioRow(`custom kind, ${name}`, unit, own!, limit, aim);
}

/** Has the custom kind served, and fills both kinds with objects of the same spec. */
async function prepare(bench: Bench, subject: Subject): Promise<[builtIn: Compared, custom: Compared]> {
  const { api, namespace } = subject;
  const builtIn: Compared = {
    path: deploymentsPath(namespace),
    object: (name, mark = "") => large(deployment(namespace, name), mark),
  };
  await api.createAll(objects, (index) => ({
    path: builtIn.path,
    object: builtIn.object(objectName(index)),
  }));
  const stored = JSON.parse((await api.ask("GET", `${builtIn.path}/${objectName(0)}`)).toString("utf8")) as {
    spec: Workload["spec"];
  };
  const custom: Compared = {
    path: `/apis/${apiVersion}/namespaces/${namespace}/${plural}`,
    object(name, mark = "") {
      const { metadata } = deployment(namespace, name);
      return marked({ apiVersion, kind, metadata, spec: structuredClone(stored.spec) }, mark);
    },
  };
  await define(bench, subject, stored.spec);
  await api.createAll(objects, (index) => ({ path: custom.path, object: custom.object(objectName(index)) }));
  return [builtIn, custom];
}

interface Workload {
  readonly metadata: object;
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: { image: string; env?: object[] }[] } };
  };
}

/** With so many variables that it takes 5 KB. */
function large(object: object, mark: string): object {
  const [container] = (object as Workload).spec.template.spec.containers;
  const copy = structuredClone(object) as Workload;
  copy.spec.template.spec.containers[0]!.env = [
    ...(container!.env ?? []),
    ...Array.from({ length: 12 }, (_, index) => ({ name: `SHOP_OPTION_${index}`, value: `option ${index}` })),
  ];
  return marked(copy, mark);
}

function marked(object: object, mark: string): object {
  const [container] = (object as Workload).spec.template.spec.containers;
  if (mark !== "") container!.image = `registry.example.com/shop/front:${mark}`;
  return object;
}

function definitionsPath({ options }: Bench): string {
  return `/apis/${groupName(apiextensions, vocabularyOf(options))}/v1/customresourcedefinitions`;
}

async function define(bench: Bench, subject: Subject, spec: object): Promise<void> {
  const { api, namespace, user, rbacGroup } = subject;
  const { schemaExtensionPrefix } = vocabularyOf(bench.options);
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: customKindSchema(spec, schemaExtensionPrefix) },
      },
    },
  };
  await api.ask("POST", definitionsPath(bench), {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: "Namespaced", names: { plural, kind }, versions: [version] },
  });
  const own = `/apis/${rbacGroup}/v1/namespaces/${namespace}`;
  await api.ask("POST", `${own}/roles`, {
    metadata: { name: "custom" },
    rules: [{ apiGroups: [group], resources: [plural], verbs: ["*"] }],
  });
  await api.ask("POST", `${own}/rolebindings`, {
    metadata: { name: "custom" },
    roleRef: { apiGroup: rbacGroup, kind: "Role", name: "custom" },
    subjects: [{ kind: "User", apiGroup: rbacGroup, name: user }],
  });
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
  while ((await api.try("GET", path)).status === 404) await new Promise((resolve) => setTimeout(resolve, 10));
}
