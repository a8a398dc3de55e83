import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type PreviewOptions, type Server } from "../../src/index.ts";
import { previewOrder } from "../../src/resources/branches/preview-operations.ts";
import { differenceBetween } from "../../src/resources/branches/compare-branches.ts";
import { differenceStatus } from "../../src/resources/branches/branch-status.ts";
import type { Resource } from "../../src/resources/registry/registry.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { until } from "../support/answers.ts";
import { workloadControllers } from "../support/workload-controllers.ts";
import { previewedSets } from "./previewed-sets.ts";

let server: Server;
beforeAll(async () => {
  server = await createServer({
    port: false,
    runtimeConfig: "api/alpha=true",
    controllers: workloadControllers,
  });
});
afterAll(() => server.close());

/** Kinds of objects that are written all the time, or describe their own workspace. */
const ignoredKinds = new Set(["Event", "Lease", "APIService", "Workspace"]);
/** Fields whose values depend on chance or on the order of writes: allocated addresses and ports. */
const byChance = /clusterIPs?|nodePort|healthCheckNodePort/;

/** All objects of the server with their resource types, by kind, namespace and name. */
async function dump(): Promise<Map<string, { readonly object: ApiObject; readonly resource: Resource }>> {
  const { registry } = server.local;
  await registry.readAll();
  const all = new Map<string, { object: ApiObject; resource: Resource }>();
  for (const resource of registry.stored()) {
    if (ignoredKinds.has(resource.kind.name)) continue;
    const served =
      registry.find(resource.group, resource.version, resource.name) ??
      registry.versionsOf(resource.group, resource.name)[0];
    if (served === undefined) continue;
    const { apiVersion, kind } = served;
    for (const object of (await server.client.list({ apiVersion, kind: kind.name })).items as ApiObject[])
      all.set(`${served.group} ${kind.name} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, {
        object,
        resource: served,
      });
  }
  return all;
}

interface Change {
  readonly action: string;
  readonly fields?: readonly { readonly path: string; readonly from?: string; readonly to?: string }[];
}

/** The difference of two dumps: `created`, or the changed fields. */
function differences(before: Awaited<ReturnType<typeof dump>>, after: typeof before): Record<string, string> {
  const result: Record<string, string> = {};
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, fresh] = [before.get(key), after.get(key)];
    const { resource } = (fresh ?? old)!;
    const target = { resource, namespace: "", name: "", subresource: "" };
    const one = differenceBetween(target, old?.object, fresh?.object);
    if (one !== undefined) result[key] = textOf([differenceStatus(one) as Change]);
  }
  return result;
}

/** What some changes of one object come to, one after the other. */
function textOf(changes: readonly Change[]): string {
  const actions = changes.map(({ action }) => action);
  const [first, last] = [actions[0]!, actions.at(-1)!];
  if (first === "created") return last === "deleted" ? "" : "created";
  if (last !== "changed") return last;
  const values = new Map<string, { from: string; to: string }>();
  for (const { path, from = "-", to = "-" } of changes.flatMap(({ fields = [] }) => fields))
    values.set(path, { from: values.get(path)?.from ?? from, to });
  return [...values]
    .filter(([path, { from, to }]) => from !== to && !byChance.test(path))
    .map(([path, { from, to }]) => `${path}: ${from} -> ${to}`)
    .toSorted()
    .join("; ");
}

/** What a preview says, in the form of {@link differences}. */
async function previewed(
  objects: readonly object[],
  options: PreviewOptions,
): Promise<Record<string, string>> {
  const { objects: own, consequences, results } = await server.preview(objects, options);
  expect(results.filter(({ message }) => message !== undefined)).toEqual([]);
  const byKey = new Map<string, Change[]>();
  for (const one of [...own, ...consequences]) {
    const group = one.apiVersion.includes("/") ? one.apiVersion.split("/", 1)[0]! : "";
    const key = `${group} ${one.kind} ${one.namespace ?? ""}/${one.name}`;
    byKey.set(key, [...(byKey.get(key) ?? []), one as Change]);
  }
  return Object.fromEntries(
    [...byKey].map(([key, changes]) => [key, textOf(changes)]).filter(([, text]) => text !== ""),
  );
}

/** Does what a preview shows. */
async function carryOut(
  objects: readonly object[],
  { delete: deletes = false }: PreviewOptions,
): Promise<void> {
  for (const object of previewOrder(objects as ApiObject[], ({ kind }) => kind, { delete: deletes })) {
    const { apiVersion, kind, metadata } = object;
    const { name = "", namespace } = metadata;
    const reference = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
    if (deletes) await server.client.delete(reference, {}, "Background");
    else
      await until(
        () =>
          server.client.apply(object).then(
            () => true,
            (error: Error) => error,
          ),
        (one) => one === true,
      );
  }
}

let equal = 0;
describe("what happens on the server is what the preview has shown", () => {
  test.each(previewedSets.map((one) => [one.title, one] as const))(
    "for %s",
    async (_, { objects, options = {} }) => {
      const expected = await previewed(objects, options);
      const before = await dump();
      await carryOut(objects, options);
      // Controllers react for a while.
      let actual = differences(before, await dump());
      for (let quiet = 0, rest = 100; quiet < 5 && rest > 0; rest--) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        const next = differences(before, await dump());
        quiet = JSON.stringify(next) === JSON.stringify(actual) ? quiet + 1 : 0;
        actual = next;
      }
      expect(Object.keys(actual).length).toBeGreaterThan(0);
      expect(expected).toEqual(actual);
      equal++;
    },
  );

  test("in all of at least 25 sets", () => {
    expect(previewedSets.length).toBeGreaterThanOrEqual(25);
    expect(equal).toBe(previewedSets.length);
  });
});
