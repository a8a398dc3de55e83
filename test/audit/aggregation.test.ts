import { expect, test } from "vitest";
import { ExtensionServer } from "../support/extension-server.ts";
import { AuditedServer, everythingAt } from "./support.ts";

test("a request forwarded to an extension server is audited like any other, a watch when its response begins and ends", async () => {
  const server = await AuditedServer.start(everythingAt("Metadata"), {
    connections: { allowLoopback: true },
  });
  const extension = await ExtensionServer.start();
  const { admin } = server.api;
  await extension.register(admin);
  const path = `${extension.path}/namespaces/default/widgets`;
  const got = await admin.get(`${path}/one`);
  const stages = async (id: unknown) => (await server.events(id)).map(({ stage }) => stage);
  const [event] = (await server.events(got.headers["audit-id"])).slice(-1);
  expect(event).toMatchObject({
    stage: "ResponseComplete",
    verb: "get",
    user: { username: "admin" },
    objectRef: {
      resource: "widgets",
      namespace: "default",
      name: "one",
      apiGroup: extension.group,
      apiVersion: "v1",
    },
    responseStatus: { code: 200 },
    annotations: { "authorization.platform.io/decision": "allow" },
  });
  extension.answer = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
  };
  const watching = await admin.watch(`${path}?watch=true`);
  const id = watching.headers["audit-id"];
  await expect.poll(() => stages(id)).toContain("ResponseStarted");
  watching.close();
  await expect.poll(() => stages(id)).toContain("ResponseComplete");
  await server.close();
  await extension.close();
});
