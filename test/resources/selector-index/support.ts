import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import { Pod } from "../../../src/kinds/core/pod/pod.ts";
import type { Engine, Target } from "../../../src/resources/engine/engine.ts";
import { listObjects, type ListEnd, type ListOptions } from "../../../src/resources/reads/list.ts";
import { keyOf, resourceOf, type Resource } from "../../../src/resources/registry/registry.ts";
import { parseSelection } from "../../../src/resources/objects/selection.ts";
import {
  SelectorIndex,
  type SelectorIndexLimits,
} from "../../../src/resources/selector-index/selector-index.ts";
import { encodeObject } from "../../../src/resources/objects/stored.ts";
import type { Clock } from "../../../src/base/time/clock.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import type { Revision, Store } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { engineOver } from "../engine.ts";

const pods: Resource = resourceOf(Pod, platform);

export interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeName: string;
}

/** Bounds at which a few dozen objects do what else takes thousands. */
export const smallLimits: SelectorIndexLimits = {
  totalBytes: 10_000_000,
  termsOfCollection: 8,
  leastObjects: 1,
  idleMs: 60_000,
  pageObjects: 3,
  changesAtATime: 2,
  commonLeast: 4,
};

/** The verbs over a store with an index, and the same without one. */
export function twoEngines(store: Store, clock: Clock, limits = smallLimits) {
  const failures: unknown[] = [];
  const selectors = new SelectorIndex(store, clock, (error) => failures.push(error), limits);
  const plain = engineOver(store, [Pod, ConfigMap]);
  const scanning: Engine = {
    ...plain,
    selectors: {
      ...plain.selectors,
      find: () => undefined,
      scanned: () => undefined,
      expectsIndex: () => false,
    },
  };
  const close = async () => {
    await selectors.close();
    await plain.selectors.close();
    plain.pages.close();
  };
  return { indexed: { ...plain, selectors }, scanning, selectors, failures, close };
}

export async function put(store: Store, namespace: string, name: string, what: Labelled): Promise<void> {
  const key = keyOf(pods, namespace, name);
  const { labels, nodeName } = what;
  const metadata = { name, namespace, uid: `uid-${name}`, labels };
  const spec = { nodeName, containers: [{ name: "c", image: "i" }] };
  const draft = encodeObject(pods, { apiVersion: "v1", kind: "Pod", metadata, spec } as unknown as ApiObject);
  const standing = await store.get(key);
  await store.commit(
    standing === undefined
      ? { kind: "create", key, draft }
      : { kind: "update", key, expected: standing.revision, draft },
  );
}

export async function remove(store: Store, namespace: string, name: string): Promise<void> {
  const key = keyOf(pods, namespace, name);
  const standing = await store.get(key);
  if (standing !== undefined) await store.commit({ kind: "delete", key, expected: standing.revision });
}

export interface Query {
  readonly namespace: string;
  readonly labels: string;
  readonly fields: string;
}

function targetOf(namespace: string): Target {
  return { resource: pods, namespace, name: "", subresource: "" };
}

/** One chunk of a list: the keys and revisions of its items, in its order. */
export async function chunk(
  engine: Engine,
  { namespace, labels, fields }: Query,
  read: ListOptions["read"],
  limit = 0,
): Promise<{ items: string[]; end: ListEnd }> {
  const selection = parseSelection(pods, labels, fields);
  const pages = listObjects(engine, targetOf(namespace), { read, limit, selection });
  const items: string[] = [];
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return { items, end: step.value };
    for (const { key, revision } of step.value.entries) items.push(`${key}@${revision}`);
  }
}

/** A list as it was at a revision. */
export async function listAt(engine: Engine, query: Query, revision: Revision): Promise<string[]> {
  return (await chunk(engine, query, { mode: "exact", revision })).items;
}
