import { describe, expect, it } from "vitest";
import { until } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { useProvider } from "./openid-support.ts";

const { pages, startServer, tokenOrigin } = useProvider();
const plain = useServer({ console: true });

const signIn = async (server = pages.server) =>
  (await server.as(undefined).get("/console/sign-in")).body as object;
const page = (headers = {}) => pages.server.as(undefined).get("/console/", { headers });

describe("the document for the sign-in", () => {
  it("has issuer, client ID, endpoints, and the scopes of the configured claims", async () => {
    const { url } = pages.provider;
    expect(await signIn()).toEqual({
      openid: {
        issuer: url,
        clientId: "plinth-console",
        endpoints: {
          authorization: `${url}/authorize`,
          token: `${tokenOrigin()}/token`,
          scope: "openid groups",
        },
      },
    });
  });

  it("is empty without a provider", async () => {
    expect((await plain.as(undefined).get("/console/sign-in")).body).toEqual({});
  });

  it("has no endpoints while the provider can't be reached, and asks it once for many requests", async () => {
    pages.behavior.isReachable = false;
    const server = await startServer();
    try {
      const documents = await Promise.all(Array.from({ length: 5 }, () => signIn(server)));
      for (const one of documents) {
        expect(one).toEqual({ openid: { issuer: pages.provider.url, clientId: "plinth-console" } });
      }
      const discoveries = pages.provider.received.filter(({ path }) => path.startsWith("/.well-known"));
      // At the start one for the keys of tokens and one for the sign-in, and one for these requests if a second has passed.
      expect(discoveries.length).toBeLessThanOrEqual(3);
      pages.behavior.isReachable = true;
      await until(
        () => signIn(server),
        (one) => JSON.stringify(one).includes("/authorize"),
      );
    } finally {
      await server.close();
    }
  });
});

describe("the content security policy", () => {
  it("allows requests to the server and the token endpoint, and nothing else", async () => {
    await signIn();
    const { headers } = await page();
    expect(headers["content-security-policy"]).toContain(`connect-src 'self' ${tokenOrigin()};`);
    const other = await plain.as(undefined).get("/console/");
    expect(other.headers["content-security-policy"]).toContain("connect-src 'self';");
  });

  it("changes the tag of the page, because browsers keep the policy of a page that is not modified", async () => {
    await signIn();
    const { headers } = await page();
    const other = await plain.as(undefined).get("/console/");
    expect(headers.etag).not.toBe(other.headers.etag);
    expect((await page({ "if-none-match": other.headers.etag })).status).toBe(200);
    const unmodified = await page({ "if-none-match": headers.etag });
    expect([unmodified.status, unmodified.headers["content-security-policy"]]).toEqual([
      304,
      headers["content-security-policy"],
    ]);
  });
});

it("the access log has no authorization code", async () => {
  await pages.server.as(undefined).get("/console/?code=secret-code&state=x");
  expect(pages.lines.join()).toContain('"/console/"');
  expect(pages.lines.join()).not.toContain("secret-code");
});
