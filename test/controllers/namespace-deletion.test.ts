import { expect, test } from "vitest";
import { createServer } from "../../src/index.ts";
import { configMap, namespace, until } from "../api/support.ts";

const space = { apiVersion: "v1", kind: "Namespace", name: "x" };
const inSpace = (name: string) => ({ ...configMap(name), metadata: { name, namespace: "x" } });

test("objects in a recreated namespace are not deleted", async () => {
  const server = await createServer({ port: false });
  const { client } = server;
  const kinds = ["Secret", "ConfigMap", "ServiceAccount"];
  await client.create(namespace("x"));
  const { resourceVersion } = await client.list({ apiVersion: "v1", kind: "Namespace" });
  const made = new Promise<void>((resolve, reject) => {
    const again = async (): Promise<void> => {
      await client.create(namespace("x"));
      for (const kind of kinds) {
        await client.create({ apiVersion: "v1", kind, metadata: { name: "o", namespace: "x" } });
      }
    };
    const watch = client.watch({ apiVersion: "v1", kind: "Namespace", resourceVersion }, ({ type }) => {
      if (type !== "DELETED") return;
      watch.close();
      again().then(resolve, reject);
    });
  });
  await client.delete(space);
  await made;
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const kind of kinds) {
    const found = await client.find({ apiVersion: "v1", kind, namespace: "x", name: "o" });
    expect(found?.kind, kind).toBe(kind);
  }
  await server.close();
});

test("a namespace with 200 large objects is deleted together with all its objects", async () => {
  const server = await createServer({ port: false });
  const { client } = server;
  await client.create(namespace("x"));
  const text = "v".repeat(4000);
  await Promise.all(
    Array.from({ length: 200 }, (_, i) => client.create({ ...inSpace(`m${i}`), data: { text } })),
  );
  await client.delete(space);
  await until(
    () => client.find(space),
    (found) => found === undefined,
  );
  const { items } = await client.list({ apiVersion: "v1", kind: "ConfigMap", namespace: "x" });
  expect(items).toEqual([]);
  await server.close();
});

test("the conditions of a terminating namespace count the objects with finalizers", async () => {
  const server = await createServer({ port: false });
  const { client } = server;
  await client.create(namespace("x"));
  for (const name of ["a", "b", "c"]) {
    const finalizers = name === "c" ? [] : ["example.com/hold"];
    await client.create({ ...inSpace(name), metadata: { name, namespace: "x", finalizers } });
  }
  await client.delete(space);
  const found = await until(
    () => client.get(space),
    ({ status }) => (status as { conditions?: unknown[] }).conditions !== undefined,
  );
  const { conditions } = found.status as { conditions: { message: string }[] };
  expect(conditions.map(({ message }) => message)).toEqual([
    "Some resources are remaining: configmaps has 2 resource instances",
    "Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances",
  ]);
  await server.close();
});

test("closing the server does not wait for the deletion of a large namespace", async () => {
  const server = await createServer({ port: false });
  const { client } = server;
  await client.create(namespace("x"));
  for (let from = 0; from < 2000; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => client.create(inSpace(`m${from + i}`))));
  }
  await client.delete(space);
  await server.close();
  await expect(client.list({ apiVersion: "v1", kind: "ConfigMap" })).rejects.toThrow();
});

test.each([
  ["1.32", false],
  ["1.33", true],
] as const)("release %s: objects of a namespace stay until its pods are gone: %s", async (release, stay) => {
  const server = await createServer({ port: false, release });
  const { client } = server;
  await client.create(namespace("x"));
  await client.create(inSpace("kept"));
  const containers = [{ name: "c", image: "example.com/image:1" }];
  const metadata = { name: "p", namespace: "x", finalizers: ["example.com/hold"] };
  await client.create({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers } });
  await client.delete(space);
  await until(
    () => client.get(space),
    ({ status }) => (status as { conditions?: unknown[] }).conditions !== undefined,
  );
  const map = { apiVersion: "v1", kind: "ConfigMap", namespace: "x", name: "kept" };
  expect((await client.find(map)) !== undefined).toBe(stay);
  const pod = { apiVersion: "v1", kind: "Pod", namespace: "x", name: "p" };
  await client.patch(pod, { metadata: { finalizers: null } }, "merge");
  await until(
    () => client.find(space),
    (found) => found === undefined,
  );
  expect(await client.find(map)).toBeUndefined();
  await server.close();
});
