import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { configMap, ok } from "./support.ts";

/** An object is encoded once for all readers of the same encoding and version. */
const scalers = (version: string) =>
  `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const configMaps = "/api/v1/namespaces/default/configmaps";
const binary = "application/vnd.platform.protobuf";

describe("watchers and readers of the same objects", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  it("concurrent watches of two versions get objects in their own version", async () => {
    const versions = ["v1", "v2"];
    const from = (await ok(server.admin.get(scalers("v2")))).body.metadata.resourceVersion as string;
    const watching = await Promise.all(
      versions.map((version) => server.admin.watch(`${scalers(version)}?resourceVersion=${from}`)),
    );
    const spec = {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    };
    await ok(server.admin.post(scalers("v2"), { metadata: { name: "web" }, spec }));
    const shown = await Promise.all(watching.map(async (one) => (await one.next()).object["apiVersion"]));
    expect(shown).toEqual(versions.map((version) => `autoscaling/${version}`));
    for (const one of watching) one.close();
  });

  it("a repeated binary list has the current objects", async () => {
    const list = async (): Promise<Buffer> => {
      const { bytes } = await ok(server.admin.get(configMaps, { accept: binary }));
      return bytes;
    };
    await ok(server.admin.post(configMaps, configMap("kept", { text: "first" })));
    const first = await list();
    expect((await list()).equals(first)).toBe(true);
    expect(first.includes("first")).toBe(true);
    await ok(server.admin.put(`${configMaps}/kept`, configMap("kept", { text: "second" })));
    const second = await list();
    expect(second.includes("second") && !second.includes("first")).toBe(true);
    expect((await list()).equals(second)).toBe(true);
  });
});
