import { expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";

test("a server that is declared with await using stops at the end of the block", async () => {
  let declared: Server;
  {
    await using server = await createServer({ port: false });
    declared = server;
    expect((await server.client.list({ apiVersion: "v1", kind: "Namespace" })).items).not.toEqual([]);
  }
  await expect(declared.client.list({ apiVersion: "v1", kind: "Namespace" })).rejects.toThrow();
});
