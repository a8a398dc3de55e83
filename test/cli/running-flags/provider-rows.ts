import type { KeyObject } from "node:crypto";
import { authority, client } from "../../authentication/pki.ts";
import { ec, jwt, rsa } from "../../authentication/jwt-support.ts";
import { HttpsService } from "../../support/https-service.ts";
import { nameWith, self, selfReviews, userOf } from "./callers.ts";
import { write } from "./files.ts";
import type { FlagGroup, FlaggedServer } from "./table.ts";

const nowSeconds = () => Math.floor(Date.now() / 1000);

async function oidcGroups(): Promise<readonly FlagGroup[]> {
  const [first, curve] = [rsa(), ec()];
  const shown = (key: KeyObject, more: object) => ({ ...key.export({ format: "jwk" }), use: "sig", ...more });
  const keys = [shown(first.publicKey, { kid: "1", alg: "RS256" }), shown(curve.publicKey, { kid: "c" })];
  const provider: HttpsService = await HttpsService.start(({ path }) => ({
    body: path.endsWith("configuration")
      ? { issuer: provider.url, jwks_uri: `${provider.url}/keys` }
      : { keys },
  }));
  const issuer = provider.url;
  const caFile = write("provider.pem", provider.ca);
  const configuration = write(
    "authentication.json",
    JSON.stringify({
      apiVersion: "apiserver.config.platform.io/v1",
      kind: "AuthenticationConfiguration",
      jwt: [
        {
          issuer: { url: issuer, audiences: ["plinth"], certificateAuthority: provider.ca },
          claimMappings: { username: { expression: '"configured:" + claims.sub' } },
        },
      ],
    }),
  );
  const token = (
    more: object = {},
    header: Parameters<typeof jwt>[0] = { alg: "RS256", kid: "1" },
    key = first.privateKey,
  ) =>
    jwt(
      header,
      {
        iss: issuer,
        sub: "ann",
        aud: "plinth",
        iat: nowSeconds(),
        exp: nowSeconds() + 600,
        hd: "a",
        ...more,
      },
      key,
    );
  const groupsWith = async (server: FlaggedServer, text: string) =>
    (userOf(await server.as(text).post(self, {})) as { groups: string[] }).groups;
  const usual = [
    selfReviews,
    `--oidc-issuer-url=${issuer}`,
    "--oidc-client-id=plinth",
    `--oidc-ca-file=${caFile}`,
  ];
  const withGroups = [...usual, "--oidc-groups-claim=roles"];
  return [
    {
      name: "the OpenID provider",
      shared: [selfReviews],
      rows: [
        {
          flag: "oidc-issuer-url",
          value: issuer,
          shownValue: "URL",
          observed: "who an ID token of this issuer stands for",
          observe: (server) => nameWith(server, token()),
          changed: `${issuer}#ann`,
          usual: 401,
        },
        {
          flag: "oidc-client-id",
          requirement: "C-5.6-08",
          value: "plinth",
          observed: "for which clients an ID token may be",
          observe: async (server) => [
            await nameWith(server, token()),
            await nameWith(server, token({ aud: "other" })),
          ],
          changed: [`${issuer}#ann`, 401],
          usual: [401, 401],
        },
        {
          flag: "oidc-ca-file",
          requirement: "C-5.6-16",
          value: caFile,
          observed: "whether a provider with a certificate by this authority is believed",
          observe: (server) => nameWith(server, token()),
          changed: `${issuer}#ann`,
          usual: 401,
        },
      ],
    },
    {
      name: "the authentication configuration",
      shared: [selfReviews],
      rows: [
        {
          flag: "authentication-config",
          value: configuration,
          observed: "who an ID token of the issuer stands for",
          observe: (server) => nameWith(server, token()),
          changed: "configured:ann",
          usual: 401,
        },
      ],
    },
    {
      name: "the claims of ID tokens",
      shared: usual,
      rows: [
        {
          flag: "oidc-username-claim",
          requirement: "C-5.6-09",
          value: "nick",
          observed: "which claim is the user's name",
          observe: async (server) =>
            ((await nameWith(server, token({ nick: "n" }))) as string).endsWith("n:n"),
          changed: true,
          usual: false,
        },
        {
          flag: "oidc-username-prefix",
          value: "oidc-n:",
          observed: "what is put before the name",
          observe: async (server) =>
            ((await nameWith(server, token({ nick: "n" }))) as string).replace(/(n|ann)$/, ""),
          changed: "oidc-n:",
          usual: `${issuer}#`,
        },
        {
          flag: "oidc-groups-claim",
          requirement: "C-5.6-13",
          value: "teams",
          observed: "which claim has the groups",
          observe: (server) => groupsWith(server, token({ nick: "n", teams: ["dev"], roles: ["x"] })),
          changed: ["dev", "system:authenticated"],
          usual: ["system:authenticated"],
        },
        {
          flag: "oidc-required-claim",
          requirement: "C-5.6-15",
          value: "hd=a",
          observed: "whether an ID token with another value of the claim is refused",
          observe: async (server) => (await nameWith(server, token({ nick: "n", hd: "b" }))) === 401,
          changed: true,
          usual: false,
        },
        {
          flag: "oidc-signing-algs",
          requirement: "C-5.6-17",
          value: "RS256,ES256",
          observed: "whether a signature by ES256 is refused",
          observe: async (server) =>
            (await nameWith(server, token({ nick: "n" }, { alg: "ES256", kid: "c" }, curve.privateKey))) ===
            401,
          changed: false,
          usual: true,
        },
      ],
    },
    {
      name: "the groups of ID tokens",
      shared: withGroups,
      rows: [
        {
          flag: "oidc-groups-prefix",
          value: "oidc:",
          observed: "what is put before each group",
          requirement: "C-5.6-14",
          observe: (server) => groupsWith(server, token({ roles: ["dev", "ops"] })),
          changed: ["oidc:dev", "oidc:ops", "system:authenticated"],
          usual: ["dev", "ops", "system:authenticated"],
        },
      ],
      close: () => provider.close(),
    },
  ];
}

function proxyGroups(): readonly FlagGroup[] {
  const proxies = authority();
  const front = client(proxies, "front");
  const ca = write("proxies.pem", proxies.certificate);
  const asked = async (server: FlaggedServer, headers: Record<string, string>, pair = front) =>
    userOf(await server.asCertificate(pair).post(self, {}, { headers }));
  const usual = [
    selfReviews,
    `--requestheader-client-ca-file=${ca}`,
    "--requestheader-username-headers=X-User",
  ];
  const groups = ["system:authenticated"];
  return [
    {
      name: "the authenticating proxy",
      shared: [selfReviews],
      rows: [
        {
          flag: "requestheader-client-ca-file",
          requirement: "C-5.8-05",
          value: ca,
          observed: "whether the header of a proxy with a certificate by this authority is believed",
          observe: (server) => asked(server, { "X-Name": "ann" }),
          changed: { username: "ann", groups },
          usual: 401,
        },
        {
          flag: "requestheader-username-headers",
          value: "X-Name",
          observed: "which header has the user's name",
          observe: async (server) => [
            await asked(server, { "X-Name": "ann" }),
            await asked(server, { "X-User": "ann" }),
          ],
          changed: [{ username: "ann", groups }, 401],
          usual: [401, 401],
        },
      ],
    },
    {
      name: "what proxies say",
      shared: usual,
      rows: [
        {
          flag: "requestheader-group-headers",
          requirement: "C-5.8-02",
          value: "X-Team",
          observed: "which headers have groups",
          observe: async (server) =>
            ((await asked(server, { "X-User": "ann", "X-Team": "dev" })) as { groups: string[] }).groups,
          changed: ["dev", ...groups],
          usual: groups,
        },
        {
          flag: "requestheader-extra-headers-prefix",
          value: "X-More-",
          observed: "which headers have further facts",
          observe: async (server) =>
            ((await asked(server, { "X-User": "ann", "X-More-Scope": "s" })) as { extra?: object }).extra,
          changed: { scope: ["s"] },
          usual: undefined,
        },
        {
          flag: "requestheader-allowed-names",
          requirement: "C-5.8-06",
          value: "front,front-2",
          observed: "whether a proxy of another name is believed",
          observe: async (server) => {
            const others = [client(proxies, "front-2"), client(proxies, "back")];
            const users = [];
            for (const pair of others) users.push(await asked(server, { "X-User": "ann" }, pair));
            return users.map((user) => typeof user === "object");
          },
          changed: [true, false],
          usual: [true, true],
        },
      ],
    },
  ];
}

/** How those are recognized whom others have authenticated. */
export async function providerGroups(): Promise<readonly FlagGroup[]> {
  return [...(await oidcGroups()), ...proxyGroups()];
}
