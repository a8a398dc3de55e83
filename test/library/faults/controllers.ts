import type { ApiObject, Clock, Exploration } from "../../../src/index.ts";
import { settle as threeTurns } from "../../support/manual-clock.ts";
import {
  Cache,
  nameOf,
  reconcile,
  reconcileEach,
  type Collection,
  type TestClient,
} from "./controller-kit.ts";

/** A controller with and without a bug, and a test that the correct one passes under all faults. */
export interface Case {
  start(client: TestClient, clock: Clock, hasBug: boolean): Promise<void>;
  test(exploration: Exploration): Promise<void>;
}

const namespace = "default";
const labelled = (part: string): Collection => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace,
  labelSelector: `part=${part}`,
});
const parents = labelled("parent");
const children = labelled("child");
const ref = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", namespace, name }) as const;
const configMap = (
  part: string,
  metadata: { name?: string; generateName?: string; finalizers?: string[]; labels?: Record<string, string> },
  data: Record<string, string> = {},
) =>
  ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata, namespace, labels: { part, ...metadata.labels } },
    data,
  }) as const;

const isReason = (error: unknown, reason: string) => (error as { reason?: string }).reason === reason;
const unless = (reason: string) => (error: unknown) => {
  if (!isReason(error, reason)) throw error;
};

const namesIn = async (client: TestClient, collection: Collection): Promise<string[]> =>
  (await client.list(collection)).items.map(nameOf).toSorted();

/** Fails with both values. */
function equal(actual: unknown, expected: unknown, subject: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${subject}: ${is} instead of ${should}`);
}

/** Creates two parents, changes one while the controller works, and deletes the other. */
async function createAndDelete({ client, settle }: Exploration): Promise<void> {
  await client.create(configMap("parent", { name: "a" }));
  await client.create(configMap("parent", { name: "b" }));
  for (let change = 1; change <= 5; change++) {
    await threeTurns();
    await client.patch(ref("a"), { data: { change: String(change) } });
  }
  await settle();
  await client.delete(ref("b"));
  await settle();
}

const oneChildPerParent: Case["test"] = async (exploration) => {
  await createAndDelete(exploration);
  const { items } = await exploration.client.list(children);
  equal(
    items.map(({ metadata }) => metadata.labels!["of"]),
    ["a"],
    "parents of the children",
  );
};

/** Works on parents by name, and again when one of their children changes. */
async function reconcileParents(
  client: TestClient,
  clock: Clock,
  work: (name: string, hasParent: boolean, ownChildren: readonly string[]) => Promise<void>,
): Promise<void> {
  let changed: (name: string) => void = () => undefined;
  const parentCache: Cache = new Cache(client, clock, parents, { changed: (name) => changed(name) });
  const parentOf = (name: string) => childCache.objects.get(name)?.metadata.labels!["of"];
  const childCache: Cache = new Cache(client, clock, children, {
    changed: (child) =>
      [parentOf(child) ?? [...parentCache.objects.keys()]].flat().forEach((name) => changed(name)),
  });
  await reconcile(
    clock,
    (name) => {
      const own = [...childCache.objects.keys()].filter((child) => parentOf(child) === name);
      return work(name, parentCache.objects.has(name), own);
    },
    (add) => {
      changed = add;
      return [childCache, parentCache];
    },
  );
}

/** A child with a generated name: whether it exists is known only from a cache, which may be stale. */
const staleReadCreatesTwice: Case = {
  async start(client, clock, hasBug) {
    await reconcileParents(client, clock, async (name, hasParent, own) => {
      if (!hasParent) {
        for (const child of own) await client.delete(ref(child)).catch(unless("NotFound"));
      } else if (own.length === 0) {
        const names = hasBug ? { generateName: `${name}-` } : { name: `${name}-child` };
        const draft = configMap("child", { ...names, labels: { of: name } });
        await client.create(draft).catch(unless("AlreadyExists"));
      }
    });
  },
  test: oneChildPerParent,
};

/** The child is deleted only when the DELETED event arrives, which a crash or the end of a watch hides. */
const missedDeleteLeaksChild: Case = {
  async start(client, clock, hasBug) {
    const work = async (name: string, hasParent: boolean) => {
      const child = ref(`${name}-child`);
      if (!hasParent) await client.delete(child).catch(unless("NotFound"));
      else {
        const draft = configMap("child", { name: child.name, labels: { of: name } });
        await client.create(draft).catch(unless("AlreadyExists"));
      }
    };
    if (!hasBug) await reconcileParents(client, clock, work);
    else await reconcileEach(client, clock, parents, (name, cached) => work(name, cached.has(name)));
  },
  test: oneChildPerParent,
};

/** Each event is handled once, when it arrives; a failed write isn't repeated. */
const edgeTriggeredLosesEvent: Case = {
  async start(client, clock, hasBug) {
    const copy = async (name: string, cached: ReadonlyMap<string, ApiObject>): Promise<void> => {
      const parent = cached.get(name);
      if (parent === undefined) return;
      const { data } = parent as { data?: Record<string, string> };
      const draft = configMap("child", { name: `${name}-child` }, data);
      const existing = await client.find(ref(`${name}-child`));
      if (existing === undefined) await client.create(draft).catch(unless("AlreadyExists"));
      else if (JSON.stringify(existing.data) !== JSON.stringify(data)) {
        await client.update({ ...draft, metadata: { ...draft.metadata, ...existing.metadata } });
      }
    };
    await reconcileEach(client, clock, parents, (name, cached) =>
      hasBug ? copy(name, cached).catch(() => undefined) : copy(name, cached),
    );
  },
  async test({ client, settle }) {
    await client.create(configMap("parent", { name: "a" }, { value: "1" }));
    await settle();
    await client.patch(ref("a"), { data: { value: "2" } });
    await settle();
    equal((await client.find(ref("a-child")))?.data, { value: "2" }, "the copy");
  },
};

/** After a lost answer or a crash the child exists already, and the parent never becomes ready. */
const createWithoutAlreadyExists: Case = {
  async start(client, clock, hasBug) {
    await reconcileEach(client, clock, parents, async (name, cached) => {
      const parent = cached.get(name);
      if (parent === undefined || parent.metadata.annotations?.["ready"] === "yes") return;
      const creation = client.create(configMap("child", { name: `${name}-child` }));
      await (hasBug ? creation : creation.catch(unless("AlreadyExists")));
      await client.patch(ref(name), { metadata: { annotations: { ready: "yes" } } });
    });
  },
  async test({ client, settle }) {
    await client.create(configMap("parent", { name: "a" }));
    await settle();
    equal((await client.get(ref("a"))).metadata.annotations?.["ready"], "yes", "ready");
  },
};

/** Two objects belong together; the second isn't created if the controller stops after the first. */
const nonAtomicTwoStepWrite: Case = {
  async start(client, clock, hasBug) {
    await reconcileEach(client, clock, parents, async (name, cached) => {
      if (!cached.has(name)) return;
      const key = `${name}-key`;
      if (hasBug && (await client.find(ref(key))) !== undefined) return;
      await client.create(configMap("child", { name: key })).catch(unless("AlreadyExists"));
      await client.create(configMap("child", { name: `${name}-lock` })).catch(unless("AlreadyExists"));
    });
  },
  async test({ client, settle }) {
    await client.create(configMap("parent", { name: "a" }));
    await settle();
    equal(await namesIn(client, children), ["a-key", "a-lock"], "the pair");
  },
};

/** An update without resourceVersion from a cached copy overwrites the changes of others. */
const overwriteWithStaleCopy: Case = {
  async start(client, clock, hasBug) {
    await reconcileEach(client, clock, parents, async (name, cached) => {
      const parent = cached.get(name) as { data?: Record<string, string> } | undefined;
      if (parent === undefined || parent.data?.["status"] === parent.data?.["wish"]) return;
      const { resourceVersion, ...rest } = (parent as { metadata: { resourceVersion?: string } }).metadata;
      const metadata = hasBug ? rest : { ...rest, resourceVersion };
      const data = { ...parent.data, status: parent.data!["wish"]! };
      await client.update({ ...parent, metadata, data } as never);
    });
  },
  async test({ client, settle }) {
    await client.create(configMap("parent", { name: "a" }, { wish: "1" }));
    await settle();
    await client.patch(ref("a"), { data: { wish: "2" } });
    // The second change comes before the controller has answered the first if that is late.
    await threeTurns();
    await client.patch(ref("a"), { data: { owner: "user" } });
    await settle();
    const { data } = await client.get(ref("a"));
    equal([data?.["owner"], data?.["status"]], ["user", "2"], "owner and status");
  },
};

/** A conflict is answered by the same write again, which can never succeed. */
const endlessRetry: Case = {
  async start(client, clock, hasBug) {
    await reconcileEach(client, clock, parents, async (name) => {
      const parent = await client.find(ref(name));
      if (parent === undefined || parent.data?.["seen"] === "yes") return;
      const next = { ...parent, data: { ...parent.data, seen: "yes" } };
      for (;;) {
        try {
          await client.update(next);
          return;
        } catch (error) {
          if (!hasBug) throw error;
        }
      }
    });
  },
  async test({ client, settle }) {
    await client.create(configMap("parent", { name: "a" }));
    await settle();
    equal((await client.get(ref("a"))).data?.["seen"], "yes", "seen");
  },
};

const deployment = (replicas: number) =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: "a" } },
      template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "a", image: "a" }] } },
    },
  }) as const;

/** The generation is marked as observed before its work is done, so that a crash loses the work. */
const observedGenerationTooEarly: Case = {
  async start(client, clock, hasBug) {
    const deployments = { apiVersion: "apps/v1", kind: "Deployment", namespace };
    await reconcileEach(client, clock, deployments, async (name) => {
      const object = await client.find({ apiVersion: "apps/v1", kind: "Deployment", namespace, name });
      if (object === undefined) return;
      const { generation } = object.metadata;
      if (object.status?.observedGeneration === generation) return;
      const status = { ...object.status, observedGeneration: generation! };
      const observe = () => client.update({ ...object, status }, "status");
      if (hasBug) await observe();
      const data = { replicas: String(object.spec!.replicas) };
      const draft = configMap("child", { name: `${name}-scale` }, data);
      const existing = await client.find(ref(draft.metadata.name!));
      if (existing === undefined) await client.create(draft).catch(unless("AlreadyExists"));
      else await client.update({ ...existing, data });
      if (!hasBug) await observe();
    });
  },
  async test({ client, settle }) {
    await client.create(deployment(1) as never);
    await settle();
    const reference = { apiVersion: "apps/v1", kind: "Deployment", namespace, name: "a" } as const;
    await client.patch(reference, { spec: { replicas: 3 } });
    await settle();
    equal((await client.find(ref("a-scale")))?.data, { replicas: "3" }, "the scale");
  },
};

/** The finalizer is removed before the clean-up, which a crash prevents. */
const finalizerRemovedTooEarly: Case = {
  async start(client, clock, hasBug) {
    await reconcileEach(client, clock, parents, async (name) => {
      const parent = await client.find(ref(name));
      if (parent === undefined) return;
      const child = `${name}-child`;
      const { deletionTimestamp, finalizers = [], resourceVersion } = parent.metadata;
      if (deletionTimestamp === undefined) {
        await client.create(configMap("child", { name: child })).catch(unless("AlreadyExists"));
        return;
      }
      const release = async () => {
        if (finalizers.length > 0) {
          await client.patch(ref(name), { metadata: { finalizers: null, resourceVersion } });
        }
      };
      if (hasBug) await release();
      await client.delete(ref(child)).catch(unless("NotFound"));
      if (!hasBug) await release();
    });
  },
  async test({ client, settle }) {
    await client.create(configMap("parent", { name: "a", finalizers: ["test.example.com/clean-up"] }));
    await settle();
    await client.delete(ref("a"));
    await settle();
    equal(await namesIn(client, parents), [], "parents");
    equal(await namesIn(client, children), [], "children");
  },
};

/** The cache keeps objects that were deleted between two watches. */
const relistKeepsVanished: Case = {
  async start(client, clock, hasBug) {
    let changed: (name: string) => void = () => undefined;
    const parentCache: Cache = new Cache(client, clock, parents, {
      keepsVanished: hasBug,
      changed: () => changed("summary"),
    });
    await reconcile(
      clock,
      async (name) => {
        const data = { names: [...parentCache.objects.keys()].toSorted().join(" ") };
        const existing = await client.find(ref(name));
        if (existing === undefined) await client.create(configMap("child", { name }, data));
        else if (existing.data?.["names"] !== data.names) await client.update({ ...existing, data });
      },
      (add) => {
        changed = add;
        return [parentCache];
      },
    );
    changed("summary");
  },
  async test(exploration) {
    await createAndDelete(exploration);
    equal((await exploration.client.find(ref("summary")))?.data, { names: "a" }, "the summary");
  },
};

/** Controllers with bugs of known classes. */
export const cases: Readonly<Record<string, Case>> = {
  "a stale read after which an object is created twice": staleReadCreatesTwice,
  "a missed deletion that leaks a child": missedDeleteLeaksChild,
  "edge-triggered logic that loses an event": edgeTriggeredLosesEvent,
  "a create that doesn't expect its own object": createWithoutAlreadyExists,
  "two writes of which a crash loses the second": nonAtomicTwoStepWrite,
  "a stale copy that overwrites another's change": overwriteWithStaleCopy,
  "an endless retry of a conflicting write": endlessRetry,
  "a generation that is observed before its work is done": observedGenerationTooEarly,
  "a finalizer that is removed before the clean-up": finalizerRemovedTooEarly,
  "a list that keeps vanished objects in the cache": relistKeepsVanished,
};
