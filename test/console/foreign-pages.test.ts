import { expect, it } from "vitest";
import { refuseForeignPage } from "../../src/http/stages/request-facts.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { useServer } from "../support/use-server.ts";

const server = useServer();
const namespaces = "/api/v1/namespaces";
const create = (site: string | undefined) =>
  server.admin.ask("POST", `${namespaces}?dryRun=All`, {
    body: { metadata: { name: "made-by-a-page" } },
    headers: site === undefined ? {} : { "sec-fetch-site": site },
  });

it("a write of a page of another site is refused; those of the console, of a user and of programs are not", async () => {
  const statuses = [];
  for (const site of ["cross-site", "same-site", "same-origin", "none", undefined]) {
    statuses.push((await create(site)).status);
  }
  expect(statuses).toEqual([403, 403, 201, 201, 201]);
});

it("a page of another site may follow a link, but opens no connection", async () => {
  const headers = { "sec-fetch-site": "cross-site" };
  expect((await server.admin.get(namespaces, { headers })).status).toBe(200);
  const upgrade = { ...headers, upgrade: "websocket", connection: "Upgrade" };
  expect((await server.admin.get(namespaces, { headers: upgrade })).status).toBe(403);
});

it("a WebSocket of a page of another site is refused by its Origin, which Chromium sends without Sec-Fetch-Site", async () => {
  const { host, hostname } = new URL(server.server.url!);
  const open = async (origin: string, client = server.as(undefined)) => {
    const headers = { origin, upgrade: "websocket", connection: "Upgrade" };
    return (await client.get(namespaces, { headers })).text.includes("pages of other sites");
  };
  expect(await open(`https://${host}`)).toBe(false);
  expect(await open(`https://${hostname}`)).toBe(true);
  expect(await open("https://example.com")).toBe(true);
  expect(await open("null")).toBe(true);
  // A program with a token of its own, which sends an Origin because its library does.
  expect(await open("http://localhost", server.admin)).toBe(false);
});

it("a WebSocket of a page of another site is accepted with a token, unless the browser adds a client certificate", () => {
  const refuses = (headers: Readonly<Record<string, string>>, certificate?: Buffer) => {
    const connection = { certificate } as Parameters<typeof refuseForeignPage>[0]["connection"];
    const exchange = { method: "GET", connection, header: (name: string) => headers[name] };
    try {
      refuseForeignPage(exchange, platform);
      return false;
    } catch (error) {
      expect(error).toMatchObject({ reason: "Forbidden" });
      return true;
    }
  };
  const token = "json, base64url.bearer.authorization.platform.io.YQ";
  for (const page of [{ origin: "https://example.com" }, { "sec-fetch-site": "cross-site" }]) {
    const upgrade = { ...page, upgrade: "websocket" };
    const withToken = { ...upgrade, "sec-websocket-protocol": token };
    expect(refuses(withToken)).toBe(false);
    expect(refuses(upgrade)).toBe(true);
    expect(refuses({ ...withToken, upgrade: "SPDY/3.1" })).toBe(true);
    expect(refuses(withToken, Buffer.from("certificate"))).toBe(true);
  }
});
