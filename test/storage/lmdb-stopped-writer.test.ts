import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft, record, remove, until } from "../../src/storage/conformance/support.ts";
import { type LmdbStore, openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { StoreTimeoutError } from "../../src/storage/store.ts";
import { Child } from "./child.ts";
import { temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
const writeTimeoutMs = 800;
let runs = 0;

describe.skipIf(process.platform !== "linux")("a process that was stopped while it writes", () => {
  let dir: string;
  let store: LmdbStore;
  let child: Child;
  const open = () => openLmdbStore({ dir, clock: systemClock, writeTimeoutMs });

  async function stoppedWriter(): Promise<Child> {
    const started = new Child("./stopped-writer.ts", [dir]);
    await started.until((lines) => lines.includes("writing"));
    await until(
      () => /State:\s*T/.test(readFileSync(`/proc/${started.pid}/status`, "utf8")),
      "it has stopped",
    );
    return started;
  }

  beforeEach(async () => {
    dir = `${folder.path}/${runs++}`;
    store = open();
    await create(store, "/g/r/n/before", "1");
    child = await stoppedWriter();
  });
  afterEach(() => child.kill());
  afterAll(folder.remove);

  it("costs others' writes their time only: they are withdrawn, and never made later", async () => {
    const { recorder } = record(store, "/g/", await store.latestRevision());
    const start = performance.now();
    const withdrawn = Promise.allSettled(
      ["a", "b"].map((name) => store.commit({ kind: "create", key: `/g/r/n/${name}`, draft: draft("1") })),
    );
    let turns = 0;
    const reading = setInterval(() => void (store.get("/g/r/n/before") !== undefined && turns++), 5);
    await until(() => store.writeObstacle() !== undefined, "the store tells");
    const obstacle = store.writeObstacle();
    const results = await withdrawn;
    const waitedMs = performance.now() - start;
    clearInterval(reading);
    expect(obstacle).toBeInstanceOf(StoreTimeoutError);
    for (const result of results) {
      const reason: unknown = result.status === "rejected" ? result.reason : undefined;
      expect(reason).toBeInstanceOf(StoreTimeoutError);
      expect((reason as Error).message).toMatch(new RegExp(`process ${child.pid} \\(.*stopped`));
    }
    expect(waitedMs).toBeGreaterThanOrEqual(writeTimeoutMs);
    expect(waitedMs).toBeLessThan(writeTimeoutMs + 5000);
    // Reads went on in the same thread, as often as a busy machine allows.
    expect(turns).toBeGreaterThan(2);

    child.continue();
    await child.ended();
    await create(store, "/g/r/n/after", "1");
    expect(store.writeObstacle()).toBe(undefined);
    expect(recorder.lines).toEqual(["create /g/r/n/after 1"]);
    expect(await store.count("/g/r/")).toBe(2);
    await store.close();
  });

  it("lets a write through that waited for less than its time", async () => {
    const waiting = create(store, "/g/r/n/patient", "1");
    setTimeout(() => child.continue(), writeTimeoutMs / 4);
    const revision = await waiting;
    await remove(store, "/g/r/n/patient", revision);
    await store.close();
  });

  it("doesn't block close, which rejects with an error", async () => {
    const waiting = create(store, "/g/r/n/late", "1");
    const closing = store.close();
    await expect(waiting).rejects.toThrow(StoreTimeoutError);
    await expect(closing).rejects.toThrow(StoreTimeoutError);
  });

  it("is named to who opens the folder, who doesn't wait for ever", async () => {
    const opener = new Child("./full-writer.ts", [dir]);
    await opener.ended();
    expect(opener.errors).toContain("StoreTimeoutError");
    expect(opener.errors).toContain(`process ${child.pid} `);
    child.continue();
    await child.ended();
    await store.close();
  });
});
