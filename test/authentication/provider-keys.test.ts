import { describe, expect, test } from "vitest";
import { ProviderKeys } from "../../src/authentication/oidc/provider-keys.ts";
import type { RemoteClient } from "../../src/remote/remote-client.ts";
import { ManualClock } from "../support/manual-clock.ts";

const issuer = "https://issuer.example";

/** Fetches keys from a provider with these documents; returns the URLs that were requested. */
async function fetchKeys(configuration: object, keys: object): Promise<readonly string[]> {
  const urls: string[] = [];
  const client = {
    async send({ href }: URL) {
      urls.push(href);
      const document = urls.length === 1 ? { issuer, ...configuration } : keys;
      return { status: 200, bytes: Buffer.from(JSON.stringify(document)) };
    },
  } as unknown as RemoteClient;
  await new ProviderKeys({ issuer }, client, ["RS256"], new ManualClock()).prepare();
  return urls;
}

describe("the keys of an OpenID provider", () => {
  test("are fetched from the URL of its configuration", async () => {
    const urls = await fetchKeys({ jwks_uri: `${issuer}/keys` }, { keys: [] });
    expect(urls).toEqual([`${issuer}/.well-known/openid-configuration`, `${issuer}/keys`]);
  });

  test.each<[string, object]>([
    ["isn't https", { jwks_uri: "http://issuer.example/keys" }],
    ["isn't a URL", { jwks_uri: "keys" }],
    ["isn't a string", { jwks_uri: [`${issuer}/keys`] }],
    ["is absent", {}],
  ])("are not requested when the URL %s", async (_what, configuration) => {
    await expect(fetchKeys(configuration, { keys: [] })).rejects.toMatchObject({
      message: `${issuer}/.well-known/openid-configuration has no https URL in jwks_uri`,
      retryable: false,
    });
  });

  test.each([{}, { keys: null }, { keys: { kty: "RSA" } }])("are an array, unlike %j", async (keys) => {
    await expect(fetchKeys({ jwks_uri: `${issuer}/keys` }, keys)).rejects.toMatchObject({
      message: `the keys of ${issuer} are not an array`,
      retryable: false,
    });
  });
});
