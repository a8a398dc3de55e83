// Tests with Bun: a program that uses the API over HTTPS, here with fetch.
import { afterAll, expect, test } from "bun:test";
import { createServer } from "plinth";

const server = await createServer({ vocabulary: "kubernetes" });
afterAll(() => server.close());

/** The program under test: returns the names of all namespaces. */
async function namespaceNames(url: string, token: string, ca: string): Promise<string[]> {
  const response = await fetch(`${url}/api/v1/namespaces`, {
    headers: { authorization: `Bearer ${token}` },
    tls: { ca },
  });
  if (!response.ok) throw new Error(`${response.status}: ${(await response.json()).message}`);
  const { items } = await response.json();
  return items.map((item: { metadata: { name: string } }) => item.metadata.name);
}

test("the program reads namespaces over HTTPS", async () => {
  await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  expect(await namespaceNames(server.url!, server.adminToken, server.caCertificate!)).toContain("shop");
});

test("the program reports a wrong token", async () => {
  expect(namespaceNames(server.url!, "wrong", server.caCertificate!)).rejects.toThrow("401: Unauthorized");
});
