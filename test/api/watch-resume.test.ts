import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeConfigMaps } from "../support/stored-config-maps.ts";
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
    await storeConfigMaps(
      server,
      "default",
      Array.from({ length: count }, (_, i) => ({ name: `many-${i}`, data })),
    );
    const watch = await server.admin.watch(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}`);
    const seen = new Set<string>();
    for (let i = 0; i < count; i++) seen.add((await watch.next()).object.metadata.name);
    expect(seen.size).toBe(count);
    const made = await server.admin.post(configMaps, { metadata: { name: "live" } });
    expect(await watch.next()).toEqual({ type: "ADDED", object: made.body });
    watch.close();
  });
});
