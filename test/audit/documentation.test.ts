import { expect, test } from "vitest";
import { AuditedServer } from "./support.ts";
import { blockOf } from "../support/pages.ts";

test("docs/audit.md: the example policy does what its comments say", async () => {
  const example = blockOf("docs/audit.md", "yaml");
  const server = await AuditedServer.start(example.replace(/^apiVersion.*\nkind.*\n/, ""));
  try {
    const { admin } = server.api;
    await admin.get("/readyz");
    await admin.post("/api/v1/namespaces/default/secrets", {
      metadata: { name: "key" },
      stringData: { word: "never-shown" },
    });
    await admin.post("/api/v1/namespaces/default/configmaps", {
      metadata: { name: "shown" },
      data: { a: "1" },
    });
    await admin.get("/api/v1/namespaces/default/configmaps/shown");
    const events = await server.all();
    expect(
      events.map(({ level, verb, objectRef, stage }) => [level, verb, objectRef.resource, stage]),
    ).toEqual([
      ["Metadata", "create", "secrets", "ResponseComplete"],
      ["RequestResponse", "create", "configmaps", "ResponseComplete"],
      ["Metadata", "get", "configmaps", "ResponseComplete"],
    ]);
    expect(events[1].responseObject).toMatchObject({ data: { a: "1" } });
    expect(events[1].responseObject.metadata.managedFields).toBeUndefined();
    expect((await server.lines()).join()).not.toContain("never-shown");
  } finally {
    await server.close();
  }
});
