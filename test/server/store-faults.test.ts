import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Child } from "../storage/child.ts";
import type { Answer, Api, Watching } from "../support/api.ts";
import { ServerProcess } from "../support/process.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string, bytes = 1) => ({ metadata: { name }, data: { text: "x".repeat(bytes) } });

/** The first answer for which a condition holds; asks for half a minute. */
async function eventually(ask: () => Promise<Answer>, holds: (answer: Answer) => boolean): Promise<Answer> {
  const end = performance.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() > end) throw new Error(`still ${answer.status}: ${answer.text.slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Servers that a test has started; what it left running is ended after it. */
const started: ServerProcess[] = [];
async function endServers(): Promise<void> {
  for (const server of started.splice(0)) await server.stop("SIGKILL");
}

async function start(dataDir: string): Promise<{ server: ServerProcess; admin: Api }> {
  const tokens = path.join(dataDir, "tokens.csv");
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(tokens, "admin,root,1,system:masters\n");
  return startAgain(dataDir);
}

/** A server over a folder that one has used. */
async function startAgain(dataDir: string): Promise<{ server: ServerProcess; admin: Api }> {
  const tokens = `--token-auth-file=${path.join(dataDir, "tokens.csv")}`;
  const server = await ServerProcess.start(
    dataDir,
    tokens,
    "--controllers=*,bootstrapsigner,-root-ca-cert-publisher",
  );
  started.push(server);
  return { server, admin: server.as("admin") };
}

const isReady = ({ status }: Answer) => status === 200;

describe.skipIf(process.platform !== "linux")(
  "a process that was stopped while it writes to the folder",
  () => {
    const folder = temporaryFolder();
    let server: ServerProcess;
    let admin: Api;
    let child: Child;

    beforeEach(async () => {
      ({ server, admin } = await start(folder.path));
      child = new Child("./stopped-writer.ts", [path.join(folder.path, "store")]);
      await child.until((lines) => lines.includes("writing"));
    });
    afterEach(async () => {
      await child.kill();
      await endServers();
      folder.remove();
    });

    it("writes get 504 and have no effect, reads and watches work, and /readyz and the log report it", async () => {
      const watch = await admin.watch(maps);
      const writing = admin.post(maps, map("late"));
      const answer = await eventually(
        () => admin.get("/readyz"),
        ({ status }) => status !== 200,
      );
      expect(answer.text).toContain("[-]store-writes failed: writes don't get through");
      expect((await admin.get("/livez")).status).toBe(200);
      expect((await admin.get(maps)).status).toBe(200);
      const { status, body } = await writing;
      expect([status, body.reason]).toEqual([504, "Timeout"]);
      expect(body.message).toMatch(/nothing was written/);
      expect(server.log()).toContain(`process ${child.pid} (`);
      child.continue();
      await child.ended();
      expect((await admin.post(maps, map("after"))).status).toBe(201);
      expect((await admin.get("/readyz")).status).toBe(200);
      expect((await admin.get(`${maps}/late`)).status).toBe(404);
      expect((await watch.next()).object.metadata.name).toBe("after");
      watch.close();
    });
  },
);

describe.skipIf(SmallDisk.missing !== undefined)(`the disk is full (${SmallDisk.missing ?? "tmpfs"})`, () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let disk: SmallDisk;
  let dataDir: string;

  beforeEach(() => {
    folder = temporaryFolder();
    disk = new SmallDisk(folder.path);
    dataDir = path.join(folder.path, "data");
  });
  afterEach(async () => {
    await endServers();
    disk.remove();
    folder.remove();
  });

  /** Writes from several clients at once until all are refused; what else is answered than 201 and 507. */
  async function fill(admin: Api): Promise<number[]> {
    const strange: number[] = [];
    let next = 0;
    const client = async () => {
      for (let refused = 0; refused < 5;) {
        const { status, body } = await admin.post(maps, map(`m${next++}`, 50_000));
        if (status === 507) refused++;
        if (status === 507) expect(body.reason).toBe("StoreFull");
        else if (status !== 201) strange.push(status);
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    return strange;
  }

  async function expectReads(admin: Api, watch: Watching | undefined): Promise<void> {
    expect((await admin.get(`${maps}/m0`)).status).toBe(200);
    expect((await admin.get(`${maps}?limit=5`)).status).toBe(200);
    if (watch !== undefined) expect((await watch.next()).type).toBe("ADDED");
  }

  it("writes get 507, reads work, /readyz reports it, and writes work again when there is space", async () => {
    const { server, admin } = await start(dataDir);
    const watch = await admin.watch(maps);
    expect(await fill(admin)).toEqual([]);
    await expectReads(admin, watch);
    watch.close();
    const answer = await admin.get("/readyz");
    expect([answer.status, answer.text.includes("[-]store-writes failed")]).toEqual([500, true]);
    expect(server.log()).toContain("no room for the write");
    disk.enlarge();
    await eventually(() => admin.get("/readyz"), isReady);
    expect((await admin.post(maps, map("again", 50_000))).status).toBe(201);
    expect(await server.stop()).toBe(0);
  });

  /** Takes what the disk has left but for some bytes; gives how to release it. */
  function takeTheRest(leftBytes: number): () => void {
    const rest = path.join(folder.path, "rest");
    spawnSync("sh", ["-c", `cat /dev/zero > ${rest} 2>&1`]);
    truncateSync(rest, Math.max(0, statSync(rest).size - leftBytes));
    return () => rmSync(rest);
  }

  it("a server that starts there serves reads, is live but not ready, and becomes ready when there is space", async () => {
    const first = await start(dataDir);
    expect((await first.admin.post(maps, map("m0"))).status).toBe(201);
    await first.server.stop("SIGKILL");
    const release = takeTheRest(0);
    const { server, admin } = await startAgain(dataDir);
    await expectReads(admin, undefined);
    expect((await admin.get("/livez")).status).toBe(200);
    const answer = await eventually(
      () => admin.get("/readyz"),
      ({ status }) => status !== 200,
    );
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining("[-]store-writes failed")]);
    // Free pages of the data file may take a few more.
    let left = 0;
    const full = await eventually(
      () => admin.post(maps, map(`no-${left++}`, 50_000)),
      ({ status }) => status !== 201,
    );
    expect([full.status, full.body.reason]).toEqual([507, "StoreFull"]);
    release();
    await eventually(() => admin.get("/readyz"), isReady);
    expect((await admin.post(maps, map("yes", 50_000))).status).toBe(201);
    expect(await server.stop()).toBe(0);
  });

  it("a burst of creates, updates and deletes writes few lines to standard error, and a metric counts them", async () => {
    const { server, admin } = await start(dataDir);
    for (let n = 0; n < 10; n++) expect((await admin.post(maps, map(`m${n}`, 5000))).status).toBe(201);
    const release = takeTheRest(0);
    const failed = async () =>
      Number(
        /^platform_store_failed_writes_total (\d+)$/m.exec((await admin.get("/metrics")).text)?.[1] ?? 0,
      );
    const before = await failed();
    const linesBefore = server.log().split("\n").length;
    const burstStart = performance.now();
    const burst = Array.from({ length: 200 }, (_, n) => {
      if (n % 3 === 0) return admin.post(maps, map(`new-${n}`, 5000));
      const [updated, deleted] = [`m${n % 5}`, `m${5 + (n % 5)}`];
      return n % 3 === 1
        ? admin.put(`${maps}/${updated}`, map(updated, 6000))
        : admin.delete(`${maps}/${deleted}`);
    });
    const statuses = (await Promise.all(burst)).map(({ status }) => status);
    const refused = statuses.filter((status) => status === 507).length;
    // A few writes may find free pages in the file; a delete after another one finds no object.
    expect(statuses.filter((status) => ![200, 201, 404, 507].includes(status))).toEqual([]);
    expect(refused).toBeGreaterThan(100);
    expect((await failed()) - before).toBeGreaterThanOrEqual(refused);
    const lines = server
      .log()
      .split("\n")
      .slice(linesBefore - 1);
    // One failed commit at first, and one after each pause of 1, 2, 4 … seconds, which a busy machine needs.
    const commits = 1 + Math.floor(Math.log2(1 + (performance.now() - burstStart) / 1000));
    expect(lines.filter((line) => line.includes("lmdb/write.js")).length).toBeLessThanOrEqual(2 * commits);
    expect(lines.filter((line) => !line.startsWith("{")).length).toBeLessThanOrEqual(12 * commits);
    release();
    await eventually(() => admin.get("/readyz"), isReady);
    expect((await admin.post(maps, map("again", 5000))).status).toBe(201);
    expect(await server.stop()).toBe(0);
  });

  it("a server that can't write its default objects starts, and writes them when there is space", async () => {
    const first = await start(dataDir);
    await first.server.stop();
    rmSync(path.join(dataDir, "store"), { recursive: true });
    // Enough for an empty store.
    const release = takeTheRest(400_000);
    const { server, admin } = await startAgain(dataDir);
    expect((await admin.get("/livez")).status).toBe(200);
    expect((await admin.get("/api/v1/namespaces")).status).toBe(200);
    const answer = await admin.get("/readyz");
    expect(answer.status).toBe(500);
    for (const name of ["store-writes", "poststarthook/rbac/bootstrap-roles"])
      expect(answer.text).toContain(`[-]${name} failed`);
    const line = "the default objects can't be written at present";
    expect(server.log().split(line)).toHaveLength(2);
    release();
    await eventually(() => admin.get("/readyz"), isReady);
    for (const name of ["default", "platform-system"])
      expect((await admin.get(`/api/v1/namespaces/${name}`)).status).toBe(200);
    const roles = await admin.get("/apis/rbac.authorization.platform.io/v1/clusterroles/cluster-admin");
    expect(roles.status).toBe(200);
    expect((await admin.post(maps, map("yes", 50_000))).status).toBe(201);
    await eventually(
      () => admin.get("/api/v1/namespaces/platform-public/configmaps/cluster-info"),
      ({ status }) => status === 200,
    );
    expect(server.log().split(line)).toHaveLength(2);
    expect(await server.stop()).toBe(0);
  });
});
