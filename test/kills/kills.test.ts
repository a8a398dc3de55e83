import { afterAll, expect, test } from "vitest";
import path from "node:path";
import { Dice } from "../support/dice.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { killRepeatedly } from "./killed-server.ts";
import { losePowerWithDeferredSyncs } from "./deferred-power-loss.ts";
import { losePower } from "./power-loss.ts";
import { Writer } from "./writer.ts";
import { effort } from "../support/effort.ts";

const kills = effort(1, 12);
/** Number of images, and how many of each kind there must be more than. */
const [images, minImages] = effort([30, 0] as const, [200, 10] as const);
/** Number of images of a broken store, which ends at the first that shows the defect. */
const brokenImages = 200;
const folder = temporaryFolder();
afterAll(folder.remove);

test(`C-1-02 a server holds every acknowledged write of 16 clients after ${kills} SIGKILLs`, async () => {
  const dataDir = path.join(folder.path, "data");
  const report = await killRepeatedly({ dataDir, kills, writers: 16, dice: new Dice(1) });
  expect(report.startMs).toHaveLength(kills);
  expect(report.acknowledged).toBeGreaterThanOrEqual(kills);
  expect(report.unanswered).toBeGreaterThan(kills);
}, 120_000);

test("C-1-02 after a loss of power at any moment of a commit the store has the state before or after it", async () => {
  const folders = [path.join(folder.path, "ordered"), path.join(folder.path, "unordered")] as const;
  const found = await losePower({ folder: folders[0], images, dice: new Dice(1) });
  expect(Math.min(found.before, found.after)).toBeGreaterThan(minImages);
  // A store that doesn't sync before it writes the meta page is detected.
  const broken = losePower({
    folder: folders[1],
    images: brokenImages,
    dice: new Dice(1),
    isOrdered: false,
  });
  await expect(broken).rejects.toThrow(/damaged|CORRUPTED|content/);
}, 60_000);

test("C-1-02 after a loss of power while syncs are deferred the store has an earlier state with every synced write", async () => {
  const folders = [path.join(folder.path, "deferred"), path.join(folder.path, "lying")] as const;
  const found = await losePowerWithDeferredSyncs({ folder: folders[0], images, dice: new Dice(1) });
  expect(Math.min(found.newest, found.older)).toBeGreaterThan(minImages);
  // A disk that drops synced sectors is detected.
  const lying = { folder: folders[1], images: brokenImages, dice: new Dice(1), keepsSyncs: false };
  await expect(losePowerWithDeferredSyncs(lying)).rejects.toThrow(/damaged|CORRUPTED|lacks/);
}, 60_000);

test("a client reports an acknowledged write that is lost, and one that is half done", async () => {
  const server = await TestServer.start();
  const maps = "/api/v1/namespaces/default/configmaps/lost";
  const writer = new Writer("lost");
  let answers = 0;
  const ask = (method: string, at: string, options?: object) => {
    if (method !== "GET" && ++answers > 3) throw new Error("the connection is lost");
    return server.admin.ask(method, at, options);
  };
  const api = {
    get: (at: string) => ask("GET", at),
    delete: (at: string) => ask("DELETE", at),
    post: (at: string, body: unknown) => ask("POST", at, { body }),
    put: (at: string, body: unknown) => ask("PUT", at, { body }),
  };
  await writer.writeUntilUnanswered(api);
  await writer.compare(api);
  const { body } = await server.admin.get(maps);
  await server.admin.patch(maps, { data: { counter: "2", text: "<2>".repeat(75) } });
  await expect(writer.compare(api)).rejects.toThrow(/lost: acknowledged was \{"counter":3/);
  await server.admin.patch(maps, { data: { counter: "3", text: `${String(body.data.text)}<` } });
  await expect(writer.compare(api)).rejects.toThrow(/not whole/);
  await server.admin.delete(maps);
  await expect(writer.compare(api)).rejects.toThrow(/stored is undefined/);
  await server.close();
});
