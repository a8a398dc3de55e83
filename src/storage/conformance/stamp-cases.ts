import assert from "node:assert/strict";
import { StoreStampError, type RequestedStamp } from "../stamp.ts";
import { create, readAll, record, rejectsWith, remove, type Scenario, scenario } from "./support.ts";

const telltales = new Map([
  ["/g/r/n/of-red", "red"],
  ["/g/r/n/of-blue", "blue"],
]);
const red: RequestedStamp = { label: "red", format: 2, telltales };
const blue: RequestedStamp = { label: "blue", format: 2, telltales };

const notShared = "the engine's data isn't shared, or it has no stamps";

/** Stamps of stores. */
export const stampCases: readonly Scenario[] = [
  scenario("a store takes a stamp on, and is opened for no other label", async ({ store, stamped }) => {
    if (stamped === undefined) return notShared;
    await create(store, "/g/r/n/x", "1");
    await stamped(red);
    await stamped(red);
    const error = await rejectsWith(() => stamped(blue), StoreStampError);
    assert.deepEqual([error.labels, error.format], [["red"], 2]);
    await stamped(red);
  }),

  scenario("a stamp isn't seen, and takes no revision", async ({ store, stamped }) => {
    if (stamped === undefined) return notShared;
    const before = await store.latestRevision();
    const { recorder, subscription } = record(store, "/", before);
    const second = await stamped(red);
    assert.equal(await store.latestRevision(), before);
    assert.equal(await second.latestRevision(), before);
    assert.deepEqual((await readAll(second, "/")).pairs, []);
    await create(second, "/g/r/n/x", "1");
    await subscription.sync();
    assert.deepEqual(recorder.lines, ["create /g/r/n/x 1"]);
    assert.deepEqual(await store.check(), []);
  }),

  scenario(
    "a store of a higher format isn't opened, one of a lower format is raised",
    async ({ stamped }) => {
      if (stamped === undefined) return notShared;
      await stamped({ ...red, format: 1 });
      await stamped(red);
      const error = await rejectsWith(() => stamped({ ...red, format: 1 }), StoreStampError);
      assert.deepEqual([error.labels, error.format], [["red"], 2]);
    },
  ),

  scenario("a store without a stamp is known by what it holds", async ({ store, stamped }) => {
    if (stamped === undefined) return notShared;
    const written = await create(store, "/g/r/n/of-blue", "1");
    const error = await rejectsWith(() => stamped(red), StoreStampError);
    assert.deepEqual([error.labels, error.format], [["blue"], undefined]);
    await stamped(blue);
    await remove(store, "/g/r/n/of-blue", written);
    await rejectsWith(() => stamped(red), StoreStampError);
  }),

  scenario("a store without a stamp that was used for several things is opened for none", async (subject) => {
    const { store, stamped } = subject;
    if (stamped === undefined) return notShared;
    await create(store, "/g/r/n/of-blue", "1");
    await create(store, "/g/r/n/of-red", "1");
    for (const stamp of [red, blue]) {
      const error: StoreStampError = await rejectsWith(() => stamped(stamp), StoreStampError);
      assert.deepEqual(error.labels.toSorted(), ["blue", "red"]);
    }
  }),
];
