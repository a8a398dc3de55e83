import { labelKey } from "../vocabulary/names.ts";
import type { LegacyTokenClaims } from "../authentication/service-accounts/legacy-claims.ts";
import { Secret } from "../kinds/core/secret.ts";
import { ServiceAccount } from "../kinds/core/service-account.ts";
import { unlessRaced } from "../resources/clients/races.ts";
import type { NewObject } from "../resources/clients/client.ts";
import type { Controller } from "./controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "./reconcile-matching.ts";

/** Signs a token for a Secret; it never expires. */
export type IssueLegacyToken = (facts: LegacyTokenClaims) => Promise<string>;

/** Dependencies of {@link serviceAccountTokens}. */
export interface TokenDependencies extends ReconciliationDependencies {
  readonly issueLegacyToken: IssueLegacyToken;
  /** Returns the CA certificate (PEM) that verifies this server; undefined if it has none. The result may change. */
  readonly rootCertificate: () => string | undefined;
}

/**
 * Adds to Secrets of type `service-account-token` a token of their account, the namespace and the server's CA
 * certificate, and deletes them with the account (spec: conventions 5.5).
 */
export const serviceAccountTokens: Controller<TokenDependencies> = {
  name: "serviceaccount-token",
  start(context) {
    const { domain } = context.registry.vocabulary;
    const type = labelKey(domain, "service-account-token");
    const quotedType = JSON.stringify(type);
    const secretsOf = new Map<string, Set<string>>();
    const removeSecret = (namespace: string, name: string) => {
      for (const [account, names] of secretsOf) {
        if (account.startsWith(`${namespace}/`) && names.delete(name) && names.size === 0)
          secretsOf.delete(account);
      }
    };
    const secrets = reconcileMatching<Secret>(context, {
      controller: this.name,
      kind: Secret,
      matters: (body) => body.includes(quotedType),
      async reconcile(secret) {
        const account = secret.metadata.annotations?.[labelKey(domain, "service-account.name")] ?? "";
        if (secret.type !== type || account === "") return undefined;
        const { namespace = "", name = "" } = secret.metadata;
        const key = `${namespace}/${account}`;
        secretsOf.set(key, (secretsOf.get(key) ?? new Set()).add(name));
        await reconcileSecret(context, secret, account);
        return undefined;
      },
      removed: removeSecret,
    });
    const accounts = reconcileMatching<ServiceAccount>(context, {
      controller: this.name,
      kind: ServiceAccount,
      // Only deletions of accounts matter.
      matters: () => false,
      reconcile: () => Promise.resolve(undefined),
      removed(namespace, name) {
        for (const secret of secretsOf.get(`${namespace}/${name}`) ?? []) secrets.add(namespace, secret);
      },
    });
    return {
      failing: () => accounts.failing() || secrets.failing(),
      async close() {
        await accounts.close();
        await secrets.close();
      },
    };
  },
};

/** Deletes the Secret if its account doesn't exist or has another uid; otherwise adds the missing data. */
async function reconcileSecret(
  context: TokenDependencies,
  secret: Secret,
  accountName: string,
): Promise<void> {
  const { client, registry } = context;
  const { namespace = "", name = "", uid = "", resourceVersion = "", annotations = {} } = secret.metadata;
  const uidAnnotation = labelKey(registry.vocabulary.domain, "service-account.uid");
  const reference = { apiVersion: "v1", kind: "ServiceAccount", namespace, name: accountName };
  const account = await client.find<ServiceAccount>(reference);
  const accountUid = account?.metadata.uid ?? "";
  const annotatedUid = annotations[uidAnnotation] ?? "";
  if (account === undefined || (annotatedUid !== "" && annotatedUid !== accountUid)) {
    const own = { apiVersion: "v1", kind: "Secret", namespace, name };
    return unlessRaced(() => client.delete(own, { uid, resourceVersion }));
  }
  const data = secret.data ?? {};
  const token = data["token"] ?? "";
  const authority = context.rootCertificate();
  const desired: Record<string, string> = {
    ...data,
    namespace: base64(namespace),
    ...(authority === undefined ? {} : { "ca.crt": base64(authority) }),
  };
  if (token === "") {
    const facts = { namespace, secret: name, account: { name: accountName, uid: accountUid } };
    desired["token"] = base64(await context.issueLegacyToken(facts));
  }
  const isUpToDate = Object.entries(desired).every(([key, value]) => data[key] === value);
  if (isUpToDate && annotatedUid === accountUid) return;
  const metadata = { ...secret.metadata, annotations: { ...annotations, [uidAnnotation]: accountUid } };
  await unlessRaced(() => client.update({ ...secret, metadata, data: desired } as NewObject));
}

const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
