import { besideLimit } from "../beside-limit.ts";
import { commitsLimit } from "../limit-servers.ts";
import { writeText } from "../load/http-text.ts";
import { sequenceMark } from "../load/plan.ts";
import { objectName } from "../objects.ts";
import type { Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject } from "../subject.ts";
import { deployment, deploymentsPath } from "../workloads.ts";

/** Objects that applies go round; a multiple of every number of connections. */
const objects = 64;
const connections = [16, 64];

interface Apply {
  readonly name: string;
  /** What the measured manager applies to the object of this name. */
  readonly applied: (namespace: string, name: string) => object;
}

/** An apply that changes nothing: what continuous reconcilers send most of the time. */
const same: Apply = { name: "apply, unchanged, 5 managers", applied: deployment };

const oneField: Apply = {
  name: "apply, one field changed, 5 managers",
  applied: (namespace, name) => withImage(deployment(namespace, name)),
};

/** A list whose items are owned one by one. */
const manyItems = 1000;
const largeList: Apply = {
  name: `apply, one of ${manyItems} list items changed`,
  applied: (namespace, name) => withVariables(deployment(namespace, name), sequenceMark),
};

/** Applies of an object of 5 KB that five managers own; limit: parsing the body and committing as many bytes. */
export const applies: Scenario = { name: "apply", remote: true, run };

async function* run(bench: Bench): AsyncGenerator<Row> {
  yield* measure(bench, same, 0.4, connections);
  yield* measure(bench, oneField, 0.1, connections);
  yield* measure(bench, largeList, undefined, [16]);
}

async function* measure(
  bench: Bench,
  { name, applied }: Apply,
  aim: number | undefined,
  manyConnections: readonly number[],
): AsyncGenerator<Row> {
  const subject = await openSubject(bench.options, "apply");
  try {
    await subject.api.each(objects, (index) => prepare(subject, objectName(index), applied));
    const { namespace, token } = subject;
    const sample = await subject.api.ask("GET", `${deploymentsPath(namespace)}/${objectName(0)}`);
    const body = JSON.stringify(applied(namespace, objectName("next")));
    const path = `${deploymentsPath(namespace)}/${objectName("next")}?fieldManager=first&force=true`;
    const text = writeText("PATCH", path, token, body, "apply-patch");
    for (const together of manyConnections) {
      yield await besideLimit(bench, subject, () => commitsLimit(bench, sample), {
        name: `${name}, ${together} connections`,
        unit: "/s",
        aim,
        plan: (address) => ({
          address,
          connections: together,
          request: { kind: "numbered", text, objects },
        }),
      });
    }
  } finally {
    await subject.close();
  }
}

/** An object that its first manager applied and four others changed, each in its own way. */
async function prepare({ api, namespace }: Subject, name: string, applied: Apply["applied"]): Promise<void> {
  const path = `${deploymentsPath(namespace)}/${name}`;
  const labelled = { metadata: { labels: { team: "shop" } } };
  const restarted = { spec: { template: { metadata: { annotations: { "restarted-at": "2026-01-01" } } } } };
  const identity = { apiVersion: "apps/v1", kind: "Deployment" };
  const annotated = { ...identity, metadata: { name, annotations: { "config-hash": "4c1bc59e0d1a" } } };
  const observed = { status: { observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 3 } };
  const apply = "application/apply-patch+yaml";
  await api.ask("PATCH", `${path}?fieldManager=first`, applied(namespace, name), undefined, apply);
  await api.ask("PATCH", `${path}?fieldManager=second`, labelled);
  await api.ask("PATCH", `${path}?fieldManager=third`, restarted);
  await api.ask("PATCH", `${path}?fieldManager=fourth`, annotated, undefined, apply);
  await api.ask("PATCH", `${path}/status?fieldManager=fifth`, observed);
}

type Workload = ReturnType<typeof deployment> & {
  spec: { template: { spec: { containers: { image: string; env?: object[] }[] } } };
};

function withImage(object: object): object {
  const copy = structuredClone(object) as Workload;
  copy.spec.template.spec.containers[0]!.image = `registry.example.com/shop/front:${sequenceMark}`;
  return copy;
}

function withVariables(object: object, first: string): object {
  const copy = structuredClone(object) as Workload;
  copy.spec.template.spec.containers[0]!.env = Array.from({ length: manyItems }, (_, index) => ({
    name: `VARIABLE_${index}`,
    value: index === 0 ? first : `value-${index}`,
  }));
  return copy;
}
