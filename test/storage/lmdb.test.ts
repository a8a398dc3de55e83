import { afterAll, describe, expect, it } from "vitest";
import { create, draft, readAll, record, textOf } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { describeModel } from "./model.ts";
import { describeConformance, inFolder, ManualClock, temporaryFolder } from "./support.ts";

const open = inFolder(openLmdbStore);

describeConformance("lmdb", open);
describeModel("lmdb", open, { runs: 25 });

describe("lmdb across restarts", () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);
  const clock = new ManualClock();

  it("C-1-02 objects, history and revision persist across a restart", async () => {
    const before = openLmdbStore({ dir: folder.path, clock });
    const start = await before.latestRevision();
    const first = await create(before, "/g/r/n/x", "1");
    await before.commit({ kind: "update", key: "/g/r/n/x", expected: first, draft: draft("2") });
    await before.close();
    const after = openLmdbStore({ dir: folder.path, clock });
    expect(after.latestRevision()).toBe(first + 1);
    expect(textOf(await after.get("/g/r/n/x"))).toBe("2");
    expect(textOf(await after.get("/g/r/n/x", first))).toBe("1");
    expect((await readAll(after, "/g/r/")).pairs).toEqual([["/g/r/n/x", "2"]]);
    expect(await after.count("/g/r/")).toBe(1);
    const { recorder, subscription } = record(after, "/g/", start);
    await subscription.sync();
    expect(recorder.lines).toEqual(["create /g/r/n/x 1", "update /g/r/n/x 2"]);
    expect(await create(after, "/g/r/n/y", "3")).toBe(first + 2);
    expect(await after.check()).toEqual([]);
    await after.close();
  });
});
