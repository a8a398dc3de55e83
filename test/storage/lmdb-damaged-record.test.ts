import { afterAll, expect, it } from "vitest";
import { open as openEnvironment } from "lmdb";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { Revision } from "../../src/storage/store.ts";
import { temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

it("a write of a damaged record fails alone: the others of its batch stand, each with a revision of its own", async () => {
  const first = openLmdbStore({ dir: folder.path, clock: systemClock });
  await create(first, "/g/r/n/bad", "1");
  await first.close();
  const root = openEnvironment({
    path: `${folder.path}/data.mdb`,
    noSubdir: true,
    maxDbs: 12,
    encoding: "binary",
  });
  const data = root.openDB<Buffer, Buffer>({ name: "data", encoding: "binary", keyEncoding: "binary" });
  await data.put(Buffer.from("/g/r/n/bad"), Buffer.from("short"));
  await root.close();

  const store = openLmdbStore({ dir: folder.path, clock: systemClock });
  const names = ["x1", "x2", "x3"];
  const sound = names.map((name) =>
    store.commit({ kind: "create", key: `/g/r/n/${name}`, draft: draft(name) }),
  );
  const damaged = store.commit({
    kind: "update",
    key: "/g/r/n/bad",
    expected: 2 as Revision,
    draft: draft("2"),
  });
  await expect(damaged).rejects.toThrow();
  const results = await Promise.all(sound);
  expect(results.map((result) => result.ok && result.revision)).toEqual([3, 4, 5]);
  expect(store.latestRevision()).toBe(5);
  expect(await create(store, "/g/r/n/y", "y")).toBe(6);
  await store.close();
});
