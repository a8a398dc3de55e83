import { afterAll, expect, test } from "vitest";
import { createServer, type CreateServerOptions } from "../../src/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const embedded = { engine: "embedded", dir: folder.path } as const;

async function messageOf(options: CreateServerOptions): Promise<string> {
  try {
    const server = await createServer({ port: false, ...options });
    await server.close();
  } catch (error) {
    return (error as Error).message;
  }
  return "the server started";
}

test.each([
  ["leases", '"leases" is not RESOURCE[.GROUP]=interval:DURATION'],
  ["leases=1s", '"leases=1s" is not RESOURCE[.GROUP]=interval:DURATION'],
  ["leases=interval:soon", '"leases=interval:soon" is not RESOURCE[.GROUP]=interval:DURATION'],
  ["leases=interval:0s", 'the interval of "leases=interval:0s" is not from 1ms to 1h'],
  ["leases=interval:2h", 'the interval of "leases=interval:2h" is not from 1ms to 1h'],
  ["leasse=interval:1s", 'no resource is named "leasse"; did you mean leases?'],
  ["=interval:1s", 'no resource is named ""'],
  ["leases.=interval:1s", 'no resource is named "leases."; did you mean leases?'],
  ["tokenreviews=interval:1s", 'no resource is named "tokenreviews"'],
  ["leases.coordination.k8s.io=interval:1s", "did you mean leases.coordination.platform.io?"],
])("durability %j is refused with the reason", async (rule, message) => {
  expect(await messageOf({ storage: embedded, durability: [rule] })).toContain(message);
});

test("durability of one resource can't be given twice, also under its other names", async () => {
  const durability = ["events=interval:1s", "events.events.platform.io=interval:2s"];
  expect(await messageOf({ storage: embedded, durability })).toBe(
    "durability: events.events.platform.io is given twice",
  );
});

test("durability is refused with etcd, and has no effect on a store in memory", async () => {
  const durability = ["leases=interval:1s"];
  const etcd = { engine: "etcd", endpoints: ["http://127.0.0.1:1"] } as const;
  expect(await messageOf({ storage: etcd, durability })).toBe(
    "durability: etcd syncs its writes by itself; the option is for the embedded store",
  );
  const postgres = { engine: "postgres", url: "postgres://127.0.0.1:1/db" } as const;
  expect(await messageOf({ storage: postgres, durability })).toBe(
    "durability: PostgreSQL syncs its writes by itself; the option is for the embedded store",
  );
  expect(await messageOf({ storage: { engine: "memory" }, durability })).toBe("the server started");
});

test("a server accepts durability for built-in and custom resources, and keeps their objects when it is closed", async () => {
  const durability = ["leases.coordination.platform.io=interval:1s", "widgets.example.com=interval:100ms"];
  const options: CreateServerOptions = { port: false, storage: embedded, durability };
  const server = await createServer(options);
  const lease = { apiVersion: "coordination.platform.io/v1", kind: "Lease" } as const;
  await server.client.create({ ...lease, metadata: { name: "kept", namespace: "default" } });
  await server.close();
  const again = await createServer(options);
  const { metadata } = await again.client.get({ ...lease, name: "kept", namespace: "default" });
  expect(metadata.name).toBe("kept");
  await again.close();
});
