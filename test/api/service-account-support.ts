import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { ec, privatePem, publicPem, rsa } from "../authentication/jwt-support.ts";
import { type Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { AUTHN, ManualClock, ok } from "./support.ts";

export const issuer = "https://issuer.example/tokens";
export const signing = ec();
export const older = rsa();
export const accounts = "/api/v1/namespaces/default/serviceaccounts";
export const podsPath = "/api/v1/namespaces/default/pods";
export const secretsPath = "/api/v1/namespaces/default/secrets";
export const REVIEWS = "/apis/authentication.platform.io/v1/tokenreviews";
const SELF = `${AUTHN}/selfsubjectreviews`;

/** Starts a server that issues service account tokens by its own keys. */
export function useTokenServer() {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-tokens-"));
  const fileWith = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const clock = new ManualClock();
  const server = useServer({
    // It would delete Secrets of missing accounts; here the tokens in them are tested.
    enabledControllers: ["*", "-root-ca-cert-publisher", "-serviceaccount-token"],
    clock,
    runtimeConfig: "authentication.platform.io/v1alpha1",
    authentication: {
      apiAudiences: ["api", "api-2"],
      serviceAccounts: {
        issuers: [issuer, "https://old.example"],
        signingKeyFile: fileWith("signing.pem", privatePem(signing.privateKey)),
        keyFiles: [fileWith("older.pem", publicPem(older.publicKey))],
        maxExpirationMs: 24 * 3600 * 1000,
      },
    },
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const makeAccount = async (name: string): Promise<string> =>
    (await ok(server.admin.post(accounts, { metadata: { name } }))).body.metadata.uid as string;
  const makePod = async (name: string, account: string): Promise<string> => {
    const spec = { serviceAccountName: account, containers: [{ name: "c", image: "i" }] };
    return (await ok(server.admin.post(podsPath, { metadata: { name }, spec }))).body.metadata.uid as string;
  };
  const request = (name: string, spec: object = {}): Promise<Answer> =>
    server.admin.post(`${accounts}/${name}/token`, { spec });
  const tokenOf = async (name: string, spec: object = {}): Promise<string> =>
    (await ok(request(name, spec))).body.status.token as string;
  const whoIs = (token: string): Promise<Answer> => server.as(token).post(SELF, {});
  const review = async (token: string, audiences?: string[]) =>
    (await ok(server.admin.post(REVIEWS, { spec: { token, ...(audiences ? { audiences } : {}) } }))).body
      .status;
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  return { fileWith, clock, server, makeAccount, makePod, request, tokenOf, whoIs, review, nowSeconds };
}
