import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { postgresMissing, PostgresServer } from "../../storage/postgres-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { startFlagged } from "./table.ts";

const title = postgresMissing === undefined ? "flags of PostgreSQL" : `skipped, ${postgresMissing}`;
describe.skipIf(postgresMissing !== undefined)(title, () => {
  const folder = temporaryFolder();
  let database: PostgresServer;
  beforeAll(async () => {
    database = await PostgresServer.start();
  });
  afterAll(async () => {
    await database?.dispose();
    folder.remove();
  });
  const maps = "/api/v1/namespaces/default/configmaps";

  test("--postgres-url and --postgres-url-file keep the objects in the database", async () => {
    const first = await startFlagged([`--postgres-url=${database.url}`]);
    await ok(first.admin.post(maps, { metadata: { name: "kept" } }));
    await first.close();
    const file = path.join(folder.path, "url");
    writeFileSync(file, `${database.url}\n`);
    const second = await startFlagged([`--postgres-url-file=${file}`]);
    expect((await second.admin.get(`${maps}/kept`)).status).toBe(200);
    await second.close();
  });

  test("--postgres-schema keeps the objects of servers with another one apart", async () => {
    const other = await startFlagged([`--postgres-url=${database.url}`, "--postgres-schema=elsewhere"]);
    expect((await other.admin.get(`${maps}/kept`)).status).toBe(404);
    await other.close();
  });

  test("a wrong password is refused with a message that doesn't contain it", async () => {
    const url = database.url.replace(database.password, "guessed");
    const starting = startFlagged([`--postgres-url=${url}`]);
    await expect(starting).rejects.toThrow(/password authentication failed/);
    await expect(starting).rejects.not.toThrow(/guessed/);
  });
});
