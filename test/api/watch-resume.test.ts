import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
/** More than a watcher's backlog: 12,000 events of 1 KB. */
const count = 12_000;

describe("a watch that resumes from an old version", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  it("C-4.6-04 resumes from its last version and gets every change once, whatever their number", async () => {
    const { body } = await server.admin.get(configMaps);
    const data = { text: "x".repeat(900) };
    for (let at = 0; at < count; at += 500) {
      const some = Array.from({ length: 500 }, (_, i) => `many-${at + i}`);
      await Promise.all(
        some.map((name) =>
          server.server.client.create({
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { name, namespace: "default" },
            data,
          }),
        ),
      );
    }
    const watch = await server.admin.watch(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}`);
    const seen = new Set<string>();
    for (let i = 0; i < count; i++) seen.add((await watch.next()).object.metadata.name);
    expect(seen.size).toBe(count);
    const made = await server.admin.post(configMaps, { metadata: { name: "live" } });
    expect(await watch.next()).toEqual({ type: "ADDED", object: made.body });
    watch.close();
  });
});
