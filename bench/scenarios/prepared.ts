import { rmSync } from "node:fs";
import { Api } from "../api.ts";
import type { DeletesApi } from "../limits/deletes.ts";
import { answersLimit } from "../limit-servers.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { measurePrepared, type PreparedSide } from "../prepared.ts";
import { Helper } from "../processes.ts";
import { ratioRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, temporaryFolder } from "../subject.ts";

/** Deleting a whole collection; limit: as many deletes committed to the bare engine in as large batches. */
export const deleteCollection: Scenario = {
  name: "delete-collection",
  remote: true,
  async *run(bench: Bench) {
    const units = bench.options.full ? 10_000 : 1000;
    const subject = await openSubject(bench.options, "delete-collection");
    const dir = temporaryFolder();
    const helper = Helper.start<DeletesApi>("limits/deletes.ts");
    try {
      const { api, namespace, pid } = subject;
      const path = configMapsPath(namespace);
      const object = (index: number): object => configMap(namespace, objectName(index));
      const own: PreparedSide = {
        pid,
        units,
        prepare: () => api.createAll(units, (index) => ({ path, object: object(index) })),
        run: async () => void (await api.ask("DELETE", path)),
      };
      const sample = await api.ask("POST", path, object(0));
      await helper.call("open", { dir, sample });
      const bare: PreparedSide = {
        pid: helper.pid,
        units,
        prepare: () => helper.call("fill", { count: units }),
        run: () => helper.call("remove", { count: units }),
      };
      const name = `delete a collection of ${units.toLocaleString("en-US")}`;
      yield await beside(bench, { name, unit: "objects/s" }, own, bare);
    } finally {
      await helper.close();
      rmSync(dir, { recursive: true, force: true });
      await subject.close();
    }
  },
};

/** Objects of the changed list; one write in so many objects reaches every page of the server's cache. */
const listed = 10_000;
const writeEach = 100;

/** A list after writes all over it, so that nothing of it is at hand; limit: the same bytes from a bare server. */
export const changedList: Scenario = {
  name: "list-changed",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "list-changed");
    try {
      const { api, namespace, pid } = subject;
      const path = configMapsPath(namespace);
      await api.createAll(listed, (index) => ({ path, object: configMap(namespace, objectName(index)) }));
      let mark = 0;
      const own: PreparedSide = {
        pid,
        units: 1,
        prepare: () => touch(api, path, String(++mark)),
        run: async () => void (await api.ask("GET", path)),
      };
      const name = "list, 10,000 x 1 KB, changed all over";
      if (bench.options.target !== undefined)
        return yield await beside(bench, { name, unit: "lists/s" }, own);
      const limit = await answersLimit(bench, [await api.ask("GET", path)]);
      const client = new Api(limit.address, "");
      try {
        const bare: PreparedSide = {
          pid: limit.pid,
          units: 1,
          prepare: () => Promise.resolve(),
          run: async () => void (await client.ask("GET", path)),
        };
        yield await beside(bench, { name, unit: "lists/s" }, own, bare);
      } finally {
        client.close();
        await limit.close();
      }
    } finally {
      await subject.close();
    }
  },
};

/** Writes to objects all over the collection. */
function touch(api: Api, path: string, mark: string): Promise<void> {
  return api.each(listed / writeEach, (index) =>
    api.ask("PATCH", `${path}/${objectName(index * writeEach)}`, { metadata: { labels: { mark } } }),
  );
}

async function beside(
  { options }: Bench,
  { name, unit }: { readonly name: string; readonly unit: string },
  own: PreparedSide,
  bare?: PreparedSide,
): Promise<Row> {
  const { rounds, seconds, target } = options;
  const sides = bare === undefined || target !== undefined ? [own] : [bare, own];
  const samples = await measurePrepared(sides, rounds, seconds);
  return ratioRow(name, unit, samples.at(-1)!, sides.length === 1 ? undefined : samples[0]!);
}
