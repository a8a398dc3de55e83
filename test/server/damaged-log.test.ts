import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ServerHere } from "../support/server-here.ts";
import { rewriteStore, type Rewrite } from "../storage/raw-store.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string, text: string) => ({ metadata: { name }, data: { text } });

/** Damages of the log entry of an update. */
const damages: readonly (readonly [what: string, damage: (entry: Buffer) => Buffer])[] = [
  ["of no known kind", (entry) => entry.fill(9, 0, 1)],
  ["that is cut off", (entry) => entry.subarray(0, 2)],
  ["whose key is longer than the entry", (entry) => entry.fill(0xff, 1, 3)],
  [
    "whose superseded value differs from its checksum",
    (entry) => entry.fill(0x7a, entry.length - 30, entry.length - 20),
  ],
  ["whose superseded value is of no known form", (entry) => entry.fill(0xff, entry.length - 900)],
];

describe("a watch that begins before a damaged log entry", () => {
  const folder = { path: "", remove: () => undefined as void };
  const servers: ServerHere[] = [];
  const start = async () => {
    const tokens = path.join(folder.path, "tokens.csv");
    writeFileSync(tokens, "admin,root,1,system:masters\n");
    const server = await ServerHere.start(folder.path, `--token-auth-file=${tokens}`);
    servers.push(server);
    return { server, admin: server.as("admin") };
  };
  beforeEach(() => void Object.assign(folder, temporaryFolder()));
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    folder.remove();
  });

  it.each(damages)("ends with a Status and leaves the server alive: an entry %s", async (_, damage) => {
    const first = await start();
    const created = await first.admin.post(maps, map("one", "x".repeat(500)));
    const updated = await first.admin.put(`${maps}/one`, map("one", "y".repeat(500)));
    expect([created.status, updated.status]).toEqual([201, 200]);
    const from = created.body.metadata.resourceVersion as string;
    await first.server.stop();
    let damaged = 0;
    const log: Rewrite = (entry, key) => {
      if (key.readBigUInt64BE() !== BigInt(updated.body.metadata.resourceVersion as string)) return undefined;
      damaged++;
      return damage(entry);
    };
    await rewriteStore(path.join(folder.path, "store"), { log });
    expect(damaged).toBe(1);

    const { admin } = await start();
    const watch = await admin.watch(`${maps}?resourceVersion=${from}`);
    const frames = await watch.toEnd();
    const last = frames.at(-1)!;
    // A damage that is seen at once is the answer of the request.
    const status = watch.status === 200 ? last.object : last;
    expect(frames).toHaveLength(1);
    expect(status).toMatchObject({ kind: "Status", status: "Failure" });
    expect([410, 500, 503]).toContain((status as unknown as { code: number }).code);
    expect((await admin.get("/livez")).status).toBe(200);
    expect((await admin.get(`${maps}/one`)).body.data.text).toBe("y".repeat(500));
    const later = await admin.watch(
      `${maps}?resourceVersion=${(await admin.get(maps)).body.metadata.resourceVersion}`,
    );
    expect((await admin.post(maps, map("two", "2"))).status).toBe(201);
    expect((await later.next()).object.metadata.name).toBe("two");
    later.close();
  });
});
