import { authority, client } from "../../authentication/pki.ts";
import { claimsOf, ec, headerOf, jwt, privatePem, publicPem } from "../../authentication/jwt-support.ts";
import { ok } from "../../api/support.ts";
import { clientConfiguration } from "../../support/client-configuration.ts";
import { HttpsService } from "../../support/https-service.ts";
import { files, write } from "./files.ts";
import { nameWith, selfReviews } from "./callers.ts";
import type { FlagGroup, FlaggedServer } from "./table.ts";

const reviews = "/apis/authentication.platform.io/v1/tokenreviews";
const accounts = "/api/v1/namespaces/default/serviceaccounts";

/** A token that a server issues for the account `robot`. */
async function issued({ admin }: FlaggedServer, spec: object = {}): Promise<string> {
  if ((await admin.get(`${accounts}/robot`)).status === 404)
    await ok(admin.post(accounts, { metadata: { name: "robot" } }));
  return (await ok(admin.post(`${accounts}/robot/token`, { spec }))).body.status.token;
}

async function lifeOf(server: FlaggedServer, spec: object): Promise<number> {
  const { iat, exp } = claimsOf(await issued(server, spec));
  return Number(exp) - Number(iat);
}

const older = ec();
const signing = ec("secp384r1");
/** A token of a Secret that is gone. */
const legacyToken = jwt(
  { alg: "ES256" },
  {
    iss: "platform/serviceaccount",
    sub: "system:serviceaccount:default:elder",
    "platform.io/serviceaccount/namespace": "default",
    "platform.io/serviceaccount/secret.name": "elder-token",
    "platform.io/serviceaccount/service-account.name": "elder",
    "platform.io/serviceaccount/service-account.uid": "any",
  },
  older.privateKey,
);
const clients = authority();
const olderKey = write("older.pem", publicPem(older.publicKey));

const accountGroups: readonly FlagGroup[] = [
  {
    name: "service accounts and certificates",
    shared: [selfReviews],
    rows: [
      {
        flag: "api-audiences",
        value: "mine",
        observed: "the audience of a new token",
        observe: async (server) => claimsOf(await issued(server))["aud"],
        changed: ["mine"],
        usual: ["https://platform.default.svc.cluster.local"],
      },
      {
        flag: "service-account-issuer",
        value: "https://issuer.example",
        observed: "the issuer of a new token",
        observe: async (server) => claimsOf(await issued(server))["iss"],
        changed: "https://issuer.example",
        usual: "https://platform.default.svc.cluster.local",
      },
      {
        flag: "service-account-signing-key-file",
        value: write("signing.key", privatePem(signing.privateKey)),
        observed: "the algorithm of the key that signs a new token",
        observe: async (server) => headerOf(await issued(server))["alg"],
        changed: "ES384",
        usual: "ES256",
      },
      {
        flag: "service-account-max-token-expiration",
        value: "1h",
        observed: "how long a token of two hours holds",
        observe: (server) => lifeOf(server, { expirationSeconds: 7200 }),
        changed: 3600,
        usual: 7200,
      },
      {
        flag: "service-account-jwks-uri",
        value: "https://keys.example/jwks",
        observed: "where others are told to fetch the keys",
        observe: async ({ admin }) =>
          (await ok(admin.get("/.well-known/openid-configuration"))).body.jwks_uri ===
          "https://keys.example/jwks",
        changed: true,
        usual: false,
      },
      {
        flag: "service-account-key-file",
        value: olderKey,
        observed: "the answer to a token by a key of the file",
        observe: async (server) => {
          const token = jwt({ alg: "ES256" }, claimsOf(await issued(server)), older.privateKey);
          return (await server.as(token).get("/version")).status;
        },
        changed: 200,
        usual: 401,
      },
      {
        flag: "enable-bootstrap-token-auth",
        requirement: "C-5.4-01",
        value: "true",
        observed: "who a bootstrap token stands for",
        async observe(server) {
          const data = { "token-id": "abcdef", "token-secret": "0123456789abcdef" };
          await ok(
            server.admin.post("/api/v1/namespaces/platform-system/secrets", {
              metadata: { name: "bootstrap-token-abcdef" },
              type: "bootstrap.platform.io/token",
              stringData: { ...data, "usage-bootstrap-authentication": "true" },
            }),
          );
          return nameWith(server, "abcdef.0123456789abcdef");
        },
        changed: "system:bootstrap:abcdef",
        usual: 401,
      },
      {
        flag: "client-ca-file",
        requirement: "C-5.1-01",
        value: write("clients.pem", clients.certificate),
        observed: "the user of a request with a certificate by this authority",
        observe: async (server) => {
          const { body } = await server.asCertificate(client(clients, "bob")).get("/api/v1/nodes");
          return /User "([^"]*)"/.exec(body.message)?.[1];
        },
        changed: "bob",
        usual: undefined,
      },
    ],
  },
  {
    name: "tokens of Secrets and pods",
    shared: [selfReviews, `--service-account-key-file=${olderKey}`],
    rows: [
      {
        flag: "service-account-lookup",
        requirement: "C-5.5-04",
        value: "false",
        observed: "whether a token is good whose Secret is gone",
        observe: async ({ admin }) => {
          const review = await ok(admin.post(reviews, { spec: { token: legacyToken } }));
          return review.body.status.authenticated === true;
        },
        changed: true,
        usual: false,
      },
      {
        flag: "service-account-extend-token-expiration",
        value: "false",
        observed: "how long a pod's token of an hour holds",
        async observe(server) {
          const { admin } = server;
          await issued(server);
          const spec = { serviceAccountName: "robot", containers: [{ name: "c", image: "i" }] };
          const pods = "/api/v1/namespaces/default/pods";
          const { uid } = (await ok(admin.post(pods, { metadata: { name: "p" }, spec }))).body.metadata;
          const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "p", uid };
          return lifeOf(server, { boundObjectRef, expirationSeconds: 3607 });
        },
        changed: 3607,
        usual: 365 * 24 * 3600,
      },
    ],
  },
];

async function webhookGroups(): Promise<readonly FlagGroup[]> {
  const service = await HttpsService.start(({ text }) => {
    const { apiVersion, kind, spec } = JSON.parse(text) as Record<string, object>;
    const user = { username: `of-${(spec as { token: string }).token}` };
    return { body: { apiVersion, kind, status: { authenticated: true, user } } };
  });
  const config = clientConfiguration(files.path, service);
  const askedAbout = (token: string) =>
    service.received
      .map(({ text }) => JSON.parse(text) as { apiVersion: string; spec: { token: string } })
      .filter(({ spec }) => spec.token === token);
  let asked = 0;
  /** A token that the service wasn't asked about before. */
  const fresh = () => `opaque-${++asked}`;
  return [
    {
      name: "the token webhook",
      shared: [selfReviews],
      rows: [
        {
          flag: "authentication-token-webhook-config-file",
          requirement: "C-5.7-01",
          value: config,
          observed: "who a token stands for that the service knows",
          observe: (server) => nameWith(server, "opaque"),
          changed: "of-opaque",
          usual: 401,
        },
      ],
    },
    {
      name: "how the token webhook is asked",
      shared: [selfReviews, `--authentication-token-webhook-config-file=${config}`],
      rows: [
        {
          flag: "authentication-token-webhook-version",
          requirement: "C-5.7-05",
          value: "v1",
          observed: "the version of its reviews",
          observe: async (server) => {
            const token = fresh();
            await nameWith(server, token);
            return askedAbout(token)[0]!.apiVersion;
          },
          changed: "authentication.platform.io/v1",
          usual: "authentication.platform.io/v1beta1",
        },
        {
          flag: "authentication-token-webhook-cache-ttl",
          requirement: "C-5.7-04",
          value: "0s",
          observed: "how often it is asked about a token that comes twice",
          observe: async (server) => {
            const token = fresh();
            for (const _ of [1, 2]) await nameWith(server, token);
            return askedAbout(token).length;
          },
          changed: 2,
          usual: 1,
        },
      ],
      close: () => service.close(),
    },
  ];
}

/** How tokens are recognized. */
export async function authenticationGroups(): Promise<readonly FlagGroup[]> {
  return [...accountGroups, ...(await webhookGroups())];
}
