import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { Dice } from "../support/dice.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { clusterRole, configMap, namespace, ok } from "./support.ts";
import { shown, subscribe, type Message, type Subscribed } from "./subscriptions-support.ts";

const roleType = "rbac.authorization.platform.io/v1/clusterroles";
const watches = [
  "configmaps?namespace=one",
  roleType,
  "configmaps",
  "serviceaccounts",
  "secrets?namespace=one",
];
const serviceAccount = (name: string) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
const kinds = [
  { path: "/api/v1/namespaces/one/configmaps", make: (name: string) => configMap(name), watches: [0, 2] },
  { path: "/api/v1/namespaces/two/configmaps", make: (name: string) => configMap(name), watches: [2] },
  {
    path: "/apis/rbac.authorization.platform.io/v1/clusterroles",
    make: (name: string) => clusterRole(name),
    watches: [1],
  },
  { path: "/api/v1/namespaces/two/serviceaccounts", make: serviceAccount, watches: [3] },
] as const;

/** Writes objects of several kinds at the same time; returns the messages that a subscription must have, in order. */
async function write(servers: readonly TestServer[], dice: Dice, round: number): Promise<string[]> {
  const lines: { readonly revision: number; readonly line: string }[] = [];
  const writer = async (server: TestServer, index: number) => {
    for (let step = 0; step < 8; step++) {
      const kind = dice.pick(kinds);
      const name = `o${round}-${index}-${step}`;
      const { body } = await ok(server.admin.post(kind.path, kind.make(name)));
      const added = Number(body.metadata.resourceVersion);
      for (const watch of kind.watches)
        lines.push({ revision: added, line: `${added} ADDED ${watch} ${name}` });
      if (dice.chance(0.5)) await server.admin.delete(`${kind.path}/${name}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, (_, index) => writer(servers[index % servers.length]!, index)));
  return lines.toSorted((a, b) => a.revision - b.revision).map(({ line }) => line);
}

const text = (one: Message) => `${one.object.metadata.resourceVersion} ${shown(one)}`;

/** Reads until the name of a last object has been seen in the watch 2. */
async function throughMarker(stream: Subscribed, marker: string): Promise<Message[]> {
  return (await stream.through(
    (one) => (one as Message).watch === 2 && one.object?.metadata.name === marker,
  )) as Message[];
}

/** Writers on all servers; every server has the events of all of them in order, and after each revision the rest of them. */
async function check(servers: readonly TestServer[]): Promise<void> {
  const [first] = servers;
  for (const name of ["one", "two"]) {
    const answer = await first!.admin.post("/api/v1/namespaces", namespace(name));
    expect([201, 409]).toContain(answer.status);
  }
  const dice = new Dice(1);
  for (let round = 0; round < 3; round++) {
    const from = (await ok(first!.admin.get("/api/v1/secrets"))).body.metadata.resourceVersion as string;
    const parameters = { resourceVersion: from, allowWatchBookmarks: "false" };
    const streams = await Promise.all(servers.map((server) => subscribe(server.admin, watches, parameters)));
    const expected = await write(servers, dice, round);
    const marker = `marker-${round}`;
    await ok(first!.admin.post("/api/v1/namespaces/one/configmaps", configMap(marker)));
    const all = await Promise.all(streams.map((stream) => throughMarker(stream, marker)));
    for (const [index, messages] of all.entries()) {
      const revisions = messages.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
      const added = messages.filter(
        ({ type, object }) => type === "ADDED" && object.metadata.name.startsWith(`o${round}-`),
      );
      expect(added.map(text)).toEqual(expected);
      expect(messages.map(text)).toEqual(all[0]!.map(text));
      streams[index]!.close();
    }
    const complete = all[0]!.flatMap(({ resumeAfter }, index) => (resumeAfter === undefined ? [] : [index]));
    for (let times = 0; times < 5; times++) {
      const index = dice.pick(complete);
      const server = dice.pick(servers);
      const rest = await subscribe(server.admin, watches, {
        ...parameters,
        resourceVersion: all[0]![index]!.resumeAfter!,
      });
      if (index < all[0]!.length - 1) {
        expect((await throughMarker(rest, marker)).map(text)).toEqual(all[0]!.slice(index + 1).map(text));
      }
      rest.close();
    }
  }
}

describe("C-4.6-04 a subscription has every event of every kind once, in order, and resumes anywhere", () => {
  test("over the embedded store", { timeout: 60_000 }, async () => {
    const folder = temporaryFolder();
    const server = await TestServer.start({ storage: { engine: "embedded", dir: folder.path } });
    try {
      await check([server]);
    } finally {
      await server.close();
      folder.remove();
    }
  });

  describe.skipIf(etcdMissing !== undefined)(`over etcd (${etcdMissing ?? ""})`, () => {
    let etcd: EtcdServer;
    const servers: TestServer[] = [];
    beforeAll(async () => {
      etcd = await EtcdServer.start();
      const storage = { engine: "etcd", endpoints: [etcd.endpoint] } as const;
      for (let index = 0; index < 2; index++) servers.push(await TestServer.start({ storage }));
    }, 60_000);
    afterAll(async () => {
      for (const server of servers) await server.close();
      await etcd?.dispose();
    });

    test("with writes by two servers", { timeout: 60_000 }, () => check(servers));
  });
});
