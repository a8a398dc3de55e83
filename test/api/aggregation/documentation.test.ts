import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { TestServer } from "../../support/api.ts";
import { apiServices, ExtensionServer } from "../../support/extension-server.ts";
import { ok } from "../support.ts";
import { blockOf } from "../../support/pages.ts";

test("docs/aggregation.md: its APIService is available, and requests are forwarded to it", async () => {
  const server = await TestServer.start({ connections: { allowLoopback: true } });
  const extension = await ExtensionServer.start({ service: "widgets" });
  const filled = blockOf("docs/aggregation.md", "yaml")
    .replace("CA_BUNDLE", Buffer.from(extension.ca).toString("base64"))
    .replace("port: 443", `port: ${extension.port}`);
  const [service, apiService] = parseAllDocuments(filled).map((one) => one.toJS() as object);
  await ok(server.admin.post("/api/v1/namespaces/default/services", service));
  await ok(server.admin.post(apiServices, apiService));
  await extension.whenAvailable(server.admin, "True");
  const { body } = await ok(server.admin.get("/apis/widgets.example.com/v1/namespaces/default/widgets/one"));
  expect(body.kind).toBe("Widget");
  await server.close();
  await extension.close();
});
