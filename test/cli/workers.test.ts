import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { optionsOfWorker } from "../../src/cli/workers/role.ts";
import { serveOptions } from "../../src/cli/serve/serve-options.ts";
import { closeSockets, normalClose, shownEvents, WatchSocket } from "../robustness/watch-socket.ts";
import type { Api } from "../support/api.ts";
import { childrenOf, listensAt, roleOf } from "../support/child-processes.ts";
import { effort } from "../support/effort.ts";
import { freePort, plinth, program, ServerProcess, shortRun } from "../support/process.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const tokens = path.join(folder.path, "tokens.csv");
writeFileSync(tokens, "admin,root,1,system:masters\n");
afterAll(() => folder.remove());
const servers: ServerProcess[] = [];
const stopServers = async () => {
  for (const server of servers.splice(0)) await server.stop();
};

// The sockets of servers that other tests run are elsewhere.
const sockets = path.join(folder.path, "sockets");
mkdirSync(sockets);
const temporary = process.env["TMPDIR"];
process.env["TMPDIR"] = sockets;
afterAll(() => {
  if (temporary === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = temporary;
});

async function start(name: string, ...flags: readonly string[]): Promise<ServerProcess> {
  const dataDir = path.join(folder.path, name);
  const server = await ServerProcess.start(
    dataDir,
    `--token-auth-file=${tokens}`,
    "--workers=2",
    "--log-level=info",
    ...flags,
  );
  servers.push(server);
  // The first worker prints the start message.
  await until(() => server.log().includes("2 workers serve"));
  return server;
}

interface AuditEvent {
  readonly stage: string;
  readonly stageTimestamp: string;
  readonly objectRef?: { readonly resource: string; readonly name?: string };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within 20 s: ${condition.toString()}`);
    await setTimeout(20);
  }
}

const maps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string) => ({ metadata: { name }, data: { name } });

/** Returns clients with a connection each, so that every worker has some: connections go to the workers in turn. */
const clients = (server: ServerProcess, count: number) =>
  Array.from({ length: count }, () => server.as("admin"));

/** The status of a request without credentials; undefined if nothing listens. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once("error", () => resolve(undefined));
  });
}

describe("--workers, with one server", () => {
  let server: ServerProcess;
  beforeAll(async () => {
    const policy = path.join(folder.path, "policy.yaml");
    writeFileSync(policy, "apiVersion: audit.platform.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
    const flags = ["--durability=leases=interval:1h", `--audit-policy-file=${policy}`];
    server = await start("shared", ...flags);
  });
  afterEach(closeSockets);
  afterAll(stopServers);

  test("serves one port with several processes; each reads what another acknowledged, and watches receive it", async () => {
    const [first, ...others] = clients(server, 6) as [Api, ...Api[]];
    const watches = await Promise.all(others.map((api) => api.watch(maps)));
    for (let n = 0; n < 5; n++) {
      expect((await first.post(maps, configMap(`map-${n}`))).status).toBe(201);
      for (const api of others) {
        expect((await api.get(`${maps}/map-${n}`)).status).toBe(200);
        const { items } = (await api.get(maps)).body as { items: { metadata: { name: string } }[] };
        expect(items.map(({ metadata }) => metadata.name)).toContain(`map-${n}`);
      }
    }
    for (const watch of watches) {
      await watch.through(({ object }) => object.metadata.name === "map-4");
      watch.close();
    }
    // A grant that one worker acknowledged is in force in the others.
    const review = { spec: { user: "devi", resourceAttributes: { verb: "get", resource: "pods" } } };
    const group = "rbac.authorization.platform.io";
    await first.post(`/apis/${group}/v1/clusterrolebindings`, {
      metadata: { name: "devi" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: group, kind: "User", name: "devi" }],
    });
    for (const api of others) {
      const answer = await api.post("/apis/authorization.platform.io/v1/subjectaccessreviews", review);
      expect(answer.body.status.allowed).toBe(true);
    }
  });

  test("--durability: the committing process defers syncs, and every worker shows the age of unsynced writes", async () => {
    const leases = "/apis/coordination.platform.io/v1/namespaces/default/leases";
    const apis = clients(server, 4);
    await Promise.all(
      apis.map(async (api, n) => {
        expect((await api.post(leases, { metadata: { name: `lease-${n}` } })).status).toBe(201);
      }),
    );
    for (const api of apis) {
      await until(async () => {
        const { text } = await api.get("/metrics");
        return Number(/^platform_store_unsynced_age_seconds (\S+)$/m.exec(text)?.[1]) > 0;
      });
      expect((await api.get(leases)).body.items).toHaveLength(4);
    }
  });

  test("/metrics has the sum of all workers, and the values of the store once", async () => {
    const apis = clients(server, 6);
    for (let n = 0; n < 5; n++) await Promise.all(apis.map((api) => api.get("/api/v1/nodes")));
    const [first] = apis as [Api];
    await first.post(maps, configMap("counted"));
    const value = async (line: string) => {
      const { text } = await first.get("/metrics");
      return Number(
        text
          .split("\n")
          .find((one) => one.startsWith(line))
          ?.slice(line.length),
      );
    };
    const lists =
      'apiserver_request_total{verb="LIST",dry_run="",group="",version="v1",resource="nodes",subresource="",scope="cluster",component="apiserver",code="200"}';
    expect(await value(lists)).toBe(30);
    const stored = (await first.get("/api/v1/configmaps")).body.items.length as number;
    expect(await value('apiserver_storage_objects{resource="configmaps"}')).toBe(stored);
    const { text } = await first.get("/metrics");
    expect(/^platform_build_info\{[^}]*\} (.*)$/m.exec(text)?.[1]).toBe("1");
    expect((await apis.at(-1)!.delete("/metrics")).text).toBe("metrics reset\n");
    expect(await value(lists)).toBe(0);
  });

  test("/debug/audit has the events of all workers, oldest first", async () => {
    const apis = clients(server, 6);
    await Promise.all(apis.map((api, at) => api.get(`/api/v1/nodes/audited-${at}`)));
    const [first] = apis as [Api];
    const { items } = (await first.get("/debug/audit")).body as { items: AuditEvent[] };
    const read = items.filter(
      ({ stage, objectRef }) =>
        stage === "ResponseComplete" && objectRef?.name?.startsWith("audited-") === true,
    );
    expect(read.map(({ objectRef }) => objectRef?.name).toSorted()).toEqual(
      apis.map((_, at) => `audited-${at}`),
    );
    const times = items.map(({ stageTimestamp }) => stageTimestamp);
    expect(times).toEqual(times.toSorted());
  });

  test("ends with the exit code and the message of a worker that can't start", async () => {
    const { port } = new URL(server.url);
    const { code, stderr } = plinth(
      "serve",
      "--workers=2",
      `--secure-port=${port}`,
      `--data-dir=${folder.path}/x`,
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining(`port ${port} of 127.0.0.1 is in use`)]);
  });

  test("replaces a worker that was killed; connections of others stay", async () => {
    const apis = clients(server, 4);
    const watches = await Promise.all(apis.map((api) => api.watch(maps)));
    const victim = childrenOf(server.pid).findLast((pid) => roleOf(pid) === "worker")!;
    process.kill(victim, "SIGKILL");
    await until(() => watches.some(({ ended }) => ended));
    await until(() => childrenOf(server.pid).length === 3);
    const [fresh] = clients(server, 1) as [Api];
    expect((await fresh.post(maps, configMap("after-kill"))).status).toBe(201);
    const open = watches.filter((watch) => !watch.ended);
    expect(open.length).toBeGreaterThan(0);
    for (const watch of open) await watch.through(({ object }) => object.metadata.name === "after-kill");
    for (const watch of watches) watch.close();
  });

  test("keeps its port when all workers are killed at once, also if it was any free one", async () => {
    const victims = childrenOf(server.pid).filter((pid) => roleOf(pid) === "worker");
    expect(victims).toHaveLength(2);
    for (const pid of victims) process.kill(pid, "SIGKILL");
    const [fresh] = clients(server, 1) as [Api];
    await until(() => childrenOf(server.pid).length === 3);
    await until(() => fresh.get("/readyz").then(Boolean, () => false));
    expect((await fresh.post(maps, configMap("after-kills"))).status).toBe(201);
  });

  test("loses no acknowledged write when the process that commits is killed, and replaces it", async () => {
    const apis = clients(server, 8);
    const acknowledged = new Map<string, string>();
    const kills = effort(1, 3);
    let failed = 0;
    let isOver = false;
    const write = async (api: Api, writer: number) => {
      for (let n = 0; !isOver; n++) {
        const name = `writer-${writer}-${n}`;
        const { status, body } = await api.post(maps, configMap(name));
        if (status === 201) acknowledged.set(name, body.metadata.resourceVersion as string);
        else failed++;
      }
    };
    const writing = Promise.all(apis.map(write));
    for (let kill = 0; kill < kills; kill++) {
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + 20);
      const committer = childrenOf(server.pid).find((pid) => roleOf(pid) === "committer");
      process.kill(committer!, "SIGKILL");
      const atKill = acknowledged.size;
      await until(() => acknowledged.size > atKill + 20);
    }
    isOver = true;
    await writing;
    const { items } = (await apis[0]!.get(maps)).body as {
      items: { metadata: { name: string; resourceVersion: string } }[];
    };
    const stored = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    for (const [name, revision] of acknowledged) expect([name, stored.get(name)]).toEqual([name, revision]);
    // At most one write of each client was without an answer at each kill.
    expect(failed).toBeLessThanOrEqual(kills * apis.length);
  });

  test("the process that commits accepts the connections of the workers itself, so that none is left without an owner", () => {
    const owners = childrenOf(server.pid).filter((pid) => listensAt(pid, "/commits"));
    expect(owners.map(roleOf)).toEqual(["committer"]);
    expect(listensAt(server.pid, "/commits")).toBe(false);
  });

  test("replaces a committing process that is stopped, and writes continue", async () => {
    const api = server.as("admin");
    const committer = childrenOf(server.pid).find((pid) => roleOf(pid) === "committer")!;
    expect((await api.post(maps, configMap("before-stop"))).status).toBe(201);
    process.kill(committer, "SIGSTOP");
    await until(() => server.log().includes("the process that commits ended"));
    await until(async () => (await api.post(maps, configMap("after-stop"))).status === 201);
    expect((await api.get(`${maps}/before-stop`)).status).toBe(200);
  });

  test("WebSocket watches of every worker get what others write, and a close frame when the server stops", async () => {
    const port = Number(new URL(server.url).port);
    const [writer] = clients(server, 1) as [Api];
    expect((await writer.post(maps, configMap("first"))).status).toBe(201);
    const target = `${maps}?watch=true&resourceVersion=0`;
    const watching = await Promise.all(
      Array.from({ length: 6 }, () => WatchSocket.at(port, target, { token: "admin" })),
    );
    for (const socket of watching) expect(await socket.head()).toMatch(/^HTTP\/1\.1 101 /);
    await Promise.all(
      clients(server, 4).map(async (api, n) => {
        const { status, text } = await api.post(maps, configMap(`next-${n}`));
        expect(status, text).toBe(201);
      }),
    );
    const all = ["first", "next-0", "next-1", "next-2", "next-3"].map((name) => `ADDED ${name}`);
    for (const socket of watching) {
      await until(async () => {
        const events = new Set(shownEvents(await socket.messages(1)));
        return all.every((one) => events.has(one));
      });
    }
    const stopping = server.stop();
    for (const socket of watching) {
      await until(async () => (await socket.messages(2)).some(({ opcode }) => opcode === 8));
      socket.end();
      expect((await socket.closed()).at(-1)).toEqual(normalClose);
    }
    expect(await stopping).toBe(0);
  });
});

describe("--workers", () => {
  afterEach(stopServers);

  test("the administrator's kubeconfig exists when /readyz succeeds for the first time", async () => {
    const dataDir = path.join(folder.path, "early");
    const port = await freePort();
    const flags = ["serve", `--workers=${effort(2, 4)}`, `--data-dir=${dataDir}`, `--secure-port=${port}`];
    const child = spawn(process.execPath, [...shortRun, program, ...flags], { stdio: "ignore" });
    const ended = once(child, "exit");
    try {
      await until(async () => (await statusOf(`https://127.0.0.1:${port}/readyz`)) === 200);
      expect(existsSync(path.join(dataDir, "admin.kubeconfig"))).toBe(true);
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
  });

  test("the processes end when the one that started them is killed, also the committing one while it stops", async () => {
    for (let index = 0; index < effort(1, 3); index++) {
      const server = await start(`killed-${index}`);
      const children = childrenOf(server.pid);
      process.kill(server.pid, "SIGINT");
      process.kill(server.pid, "SIGINT");
      await server.stop("SIGKILL");
      await until(() => children.every((pid) => !existsSync(`/proc/${pid}`)));
    }
  });

  if (effort(false, true))
    test("the processes end when the one that started them is killed while they serve", async () => {
      const server = await start("killed");
      const children = childrenOf(server.pid);
      await server.stop("SIGKILL");
      await until(() => children.every((pid) => !existsSync(`/proc/${pid}`)));
    });

  test("stops all processes on SIGTERM", async () => {
    const socketFolders = () => readdirSync(sockets);
    const before = socketFolders();
    const server = await start("stop");
    const children = childrenOf(server.pid);
    expect(socketFolders().length).toBe(before.length + 1);
    expect(await server.stop()).toBe(0);
    await until(() => children.every((pid) => !existsSync(`/proc/${pid}`)));
    expect(socketFolders()).toEqual(before);
  });

  test.each(effort([2], [1, 2, 3]))(
    "stops when SIGTERM arrives before %d processes are ready",
    async (processes) => {
      const flags = [
        "serve",
        "--workers=2",
        "--secure-port=0",
        `--data-dir=${folder.path}/early-${processes}`,
      ];
      const child = spawn(process.execPath, [...shortRun, program, ...flags], { stdio: "ignore" });
      const ended = once(child, "exit");
      await until(() => childrenOf(child.pid!).length === processes);
      const children = childrenOf(child.pid!);
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
      await until(() => children.every((pid) => !existsSync(`/proc/${pid}`)));
    },
  );

  test("with a store in memory is a usage error", async () => {
    const { code, stderr } = await plinthHere("serve", "--workers=2", "--storage-backend=memory");
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("--workers: 2 workers can't share a store in memory"),
    ]);
    const wrong = await plinthHere("serve", "--workers=many");
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("auto or an integer from 1 to 64"),
    ]);
  });

  test("divides the limits of the server among the workers", async () => {
    const flags = new Map([
      ["max-requests-inflight", "100"],
      ["max-mutating-requests-inflight", "0"],
      ["max-connections", "11"],
      ["audit-log-path", "/var/log/audit.log"],
    ]);
    const options = await serveOptions(flags, {});
    const role = { kind: "worker", port: 6443, workers: 4, announces: false, socket: "/s" } as const;
    const { server } = optionsOfWorker(options, { ...role, number: 3 });
    expect(server.flow).toMatchObject({ maxReading: 25, maxChanging: 0 });
    expect(server).toMatchObject({ maxConnections: 3, processes: 4, committer: "/s" });
    expect(server.audit.log?.path).toBe("/var/log/audit-3.log");
    expect(optionsOfWorker(options, { ...role, number: 1 }).server.audit.log?.path).toBe(
      "/var/log/audit.log",
    );
    expect(
      optionsOfWorker(await serveOptions(new Map(), {}), { ...role, number: 2 }).server.maxConnections,
    ).toBe(5000);
  });
});
