import { expect, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { ExtensionServer, apiServices } from "../../support/extension-server.ts";
import { namespace, ok, until } from "../support.ts";

test("a namespace stays while an extension server is unavailable, says so, and is deleted afterwards", async () => {
  const server = await TestServer.start({ connections: { allowLoopback: true } });
  const extension = await ExtensionServer.start();
  try {
    const service = { namespace: "default", name: "nowhere", port: 443 };
    await extension.registerOnly(server.admin, { service });
    await extension.whenAvailable(server.admin, "False");
    await ok(server.admin.post("/api/v1/namespaces", namespace("held")));
    await ok(server.admin.delete("/api/v1/namespaces/held"));
    const read = () => server.admin.get("/api/v1/namespaces/held");
    const { body } = await until(read, (answer) => answer.body["status"]?.conditions !== undefined);
    expect(body["status"].conditions).toMatchObject([
      {
        type: "NamespaceDeletionDiscoveryFailure",
        status: "True",
        reason: "DiscoveryFailed",
        message: expect.stringContaining("widgets.example.com/v1"),
      },
    ]);
    expect(body["spec"].finalizers).toHaveLength(1);
    await ok(server.admin.delete(`${apiServices}/${extension.name}`));
    await until(read, ({ status }) => status === 404);
  } finally {
    await server.close();
    await extension.close();
  }
});
