import { rmSync } from "node:fs";
import type { DeletesApi } from "../limits/deletes.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { measurePrepared, type PreparedSide } from "../prepared.ts";
import { Helper } from "../processes.ts";
import { ratioRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { namespaceObject, openSubject, temporaryFolder, type Subject } from "../subject.ts";
import { makePodsAccount, pod, podsPath } from "../workloads.ts";

/** How many objects go by themselves. */
const count = 10_000;
const owners = 100;
/** How often it is asked whether they are gone, in milliseconds; each question costs the server less than one. */
const askMs = 20;
/** Work that takes longer than this is given up, in milliseconds. */
const givenUpMs = 10 * 60_000;

/**
 * What controllers delete by themselves, from the request that sets it off until the last object is gone: pods whose
 * owners are deleted, and the objects of a namespace. Limit: as many deletes committed to the bare engine in as large
 * batches.
 */
export const collection: Scenario = {
  name: "collection",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "collection");
    const dir = temporaryFolder();
    const helper = Helper.start<DeletesApi>("limits/deletes.ts");
    try {
      const { api, namespace } = subject;
      const sample = await api.ask("POST", configMapsPath(namespace), configMap(namespace, "sample"));
      await helper.call("open", { dir, sample });
      const bare: PreparedSide = {
        pid: helper.pid,
        units: count,
        prepare: () => helper.call("fill", { count }),
        run: () => helper.call("remove", { count }),
      };
      await makePodsAccount(subject);
      yield await beside(bench, "collect 10,000 pods of 100 deleted owners", ownedPods(subject), bare);
      yield await beside(bench, "delete a namespace of 10,000 config maps", fullNamespace(subject), bare);
    } finally {
      await helper.close();
      rmSync(dir, { recursive: true, force: true });
      await subject.close();
    }
  },
};

/** Pods with one owner each; the owners are config maps, which no other controller looks after. */
function ownedPods({ api, namespace, pid }: Subject): PreparedSide {
  const owning = configMapsPath(namespace);
  const selected = `${owning}?labelSelector=${encodeURIComponent("app=bench")}`;
  const owned = podsPath(namespace);
  return {
    pid,
    units: count,
    async prepare() {
      const uids: string[] = [];
      await api.each(owners, async (index) => {
        const made = await api.ask("POST", owning, configMap(namespace, objectName(index)));
        uids[index] = (JSON.parse(made.toString()) as { metadata: { uid: string } }).metadata.uid;
      });
      await api.createAll(count, (index) => {
        const owner = index % owners;
        const { metadata, ...rest } = pod(namespace, objectName(index));
        const reference = {
          apiVersion: "v1",
          kind: "ConfigMap",
          name: objectName(owner),
          uid: uids[owner],
        };
        const object = { ...rest, metadata: { ...metadata, ownerReferences: [reference] } };
        return { path: owned, object };
      });
    },
    async run() {
      await api.ask("DELETE", selected);
      await until(async () => {
        const list = await api.ask("GET", `${owned}?limit=1`);
        return (JSON.parse(list.toString()) as { items: unknown[] }).items.length === 0;
      }, "the pods of deleted owners");
    },
  };
}

function fullNamespace({ api, pid }: Subject): PreparedSide {
  let round = 0;
  let name = "";
  return {
    pid,
    units: count,
    async prepare() {
      name = `full-${process.pid}-${++round}`;
      await api.createAll(1, () => namespaceObject(name));
      const path = configMapsPath(name);
      await api.createAll(count, (index) => ({ path, object: configMap(name, objectName(index)) }));
    },
    async run() {
      await api.ask("DELETE", `/api/v1/namespaces/${name}`);
      await until(
        async () => (await api.try("GET", `/api/v1/namespaces/${name}`)).status === 404,
        `the namespace ${name}`,
      );
    },
  };
}

async function until(gone: () => Promise<boolean>, what: string): Promise<void> {
  const begun = performance.now();
  while (!(await gone())) {
    if (performance.now() - begun > givenUpMs) throw new Error(`${what} don't go away`);
    await new Promise((resolve) => setTimeout(resolve, askMs));
  }
}

async function beside({ options }: Bench, name: string, own: PreparedSide, bare: PreparedSide): Promise<Row> {
  const { rounds, seconds, target } = options;
  const sides = target === undefined ? [bare, own] : [own];
  const samples = await measurePrepared(sides, rounds, seconds);
  return ratioRow(name, "objects/s", samples.at(-1)!, target === undefined ? samples[0]! : undefined);
}
