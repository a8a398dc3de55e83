import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Api } from "../../support/api.ts";
import { ServerProcess } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { expectNeverOverrun, expectNoLeak, limitedNamespace, storm } from "./quota-storm.ts";
import { effort } from "../../support/effort.ts";

const creators = 64;
/** Lower bound of created and of rejected requests on a slow machine: the number of pods in the quota. */
const minRequests = 12;

describe("usage never exceeds a quota and is never lost with 64 concurrent creators", () => {
  test.each(["memory", "embedded"] as const)("on one server with the %s store", async (engine) => {
    const folder = temporaryFolder();
    const storage = engine === "memory" ? { engine } : { engine, dir: path.join(folder.path, "data") };
    const server = await TestServer.start({ storage, enabledControllers: ["resourcequota"] });
    try {
      const since = await limitedNamespace(server.admin, "storm");
      const { created, rejected } = await storm([server.admin], "storm", {
        creators,
        rounds: effort(4, 12),
        mark: "a",
      });
      expect(created).toBeGreaterThan(minRequests);
      expect(rejected).toBeGreaterThan(minRequests);
      await expectNeverOverrun(server.admin, "storm", since);
      await expectNoLeak(server.admin, "storm");
    } finally {
      await server.close();
      folder.remove();
    }
  });
});

describe("two processes over one data folder", () => {
  const folder = temporaryFolder();
  const tokens = path.join(folder.path, "tokens.csv");
  const dataDir = path.join(folder.path, "data");
  const serve = () => ServerProcess.start(dataDir, `--token-auth-file=${tokens}`);
  let servers: ServerProcess[];

  beforeAll(async () => {
    writeFileSync(tokens, "admin,root,1,system:masters\n");
    servers = [await serve()];
    servers.push(await serve());
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    folder.remove();
  });

  test("both processes charge the same quota without exceeding it", async () => {
    const apis = servers.map((one) => one.as("admin"));
    const since = await limitedNamespace(apis[0]!, "both");
    const { created, rejected } = await storm(apis, "both", { creators, rounds: effort(4, 8), mark: "a" });
    expect(created).toBeGreaterThan(minRequests);
    expect(rejected).toBeGreaterThan(minRequests);
    await expectNeverOverrun(apis[1]!, "both", since);
    await expectNoLeak(apis[1]!, "both");
  });

  test("the quota stays exact when one process is killed repeatedly", async () => {
    const since = await limitedNamespace(servers[0]!.as("admin"), "killed");
    for (let round = 0; round < effort(1, 3); round++) {
      const apis: Api[] = servers.map((one) => one.as("admin"));
      const load = storm(apis, "killed", { creators, rounds: 6, mark: `r${round}` });
      await new Promise((resolve) => setTimeout(resolve, 100 + 150 * round));
      const [victim] = servers.splice(round % 2, 1);
      await victim!.stop("SIGKILL");
      await load;
      servers.push(await serve());
    }
    const api = servers[0]!.as("admin");
    await expectNeverOverrun(api, "killed", since);
    await expectNoLeak(api, "killed");
  });
});
