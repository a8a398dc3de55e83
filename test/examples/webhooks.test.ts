import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configurations } from "../../examples/webhooks/configuration.ts";
import { webhookServer } from "../../examples/webhooks/webhook.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { TestServer } from "../support/api.ts";

const PODS = "/api/v1/namespaces/default/pods";

describe("the example of a webhook", () => {
  const { serving, caCertificate } = createServingCertificates(["127.0.0.1"]);
  const webhook = webhookServer({ cert: serving.certificate, key: serving.key });
  let server: TestServer;
  beforeAll(async () => {
    await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve));
    server = await TestServer.start();
    const url = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
    for (const object of configurations(url, caCertificate))
      await server.server.client.create(object as never);
  });
  afterAll(async () => {
    await server.close();
    webhook.closeAllConnections();
    await new Promise<void>((resolve) => webhook.close(() => resolve()));
  });

  const pod = (name: string, image: string, labels?: object) => ({
    metadata: { name, ...(labels && { labels }) },
    spec: { containers: [{ name: "main", image }] },
  });

  it("labels new pods", async () => {
    const plain = await server.admin.post(PODS, pod("a", "example.com/a:1"));
    expect([plain.status, plain.body.metadata.labels]).toEqual([201, { team: "default" }]);
    const labelled = await server.admin.post(PODS, pod("b", "example.com/b:1", { app: "b" }));
    expect(labelled.body.metadata.labels).toEqual({ app: "b", team: "default" });
    const own = await server.admin.post(PODS, pod("c", "example.com/c:1", { team: "own" }));
    expect(own.body.metadata.labels).toEqual({ team: "own" });
  });

  it("refuses images of the tag latest, and warns of images without one", async () => {
    const refused = await server.admin.post(PODS, pod("d", "example.com/d:latest"));
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'admission webhook "check.pods.example.com" denied the request: container main runs example.com/d:latest',
    ]);
    const warned = await server.admin.post(PODS, pod("e", "example"));
    expect([warned.status, warned.warnings]).toEqual([201, ["container main has an image without a tag"]]);
  });
});
