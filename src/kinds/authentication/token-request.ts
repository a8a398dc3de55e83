import { since } from "../../base/release-rows.ts";
import { kind, struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int64, list, map, string, time } from "../../schema/types.ts";

const minSeconds = 10 * 60;
/** The reference stores the number of seconds in 32 bits. */
const maxSeconds = 2 ** 32;

const BoundObjectReference = struct(
  "BoundObjectReference",
  "An object to which a token's validity is bound.",
  {
    kind: field(1, string, "Kind of the object: Pod or Secret."),
    apiVersion: field(2, string, "API group and version of the object."),
    name: field(3, string, "Name of the object."),
    uid: field(4, string, "Unique identifier of the object."),
  },
);

const TokenRequestSpec = struct(
  "TokenRequestSpec",
  "Parameters of the requested token.",
  {
    audiences: field(1, list(string), "Intended audiences of the token; empty means the API server.")
      .declaredRequired()
      .atomic(),
    boundObjectRef: field(
      3,
      BoundObjectReference,
      "Object to which the token is bound; the token is invalid once it is deleted.",
    )
      .emitEmpty()
      .nullable(),
    expirationSeconds: field(
      4,
      int64,
      "Requested lifetime in seconds, at least 600. Default: 3600. The server may choose another one.",
    )
      .emitEmpty()
      .nullable()
      .unpublishedDefault(3600)
      .check(checkLifetime),
  },
  {
    check: checkAttestations,
    later: () => ({
      attestations: since(
        "1.37",
        field(
          5,
          map(list(string)),
          "Claims by key that the server attests to; only for tokens that are bound to a webhook.",
        ),
      ),
    }),
  },
);

const TokenRequestStatus = struct("TokenRequestStatus", "The issued token.", {
  token: field(1, string, "The token.").declaredRequired(),
  expirationTimestamp: field(2, time, "Time at which the token expires.").declaredRequired(),
});

/** Body and response of the subresource `token` of a ServiceAccount. */
export const TokenRequest = kind({
  name: "TokenRequest",
  resource: "tokenrequests",
  singular: "tokenrequest",
  scope: "Namespaced",
  doc: "Requests a token of a service account.",
  verbs: [],
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; its name is that of the service account.").emitEmpty(),
    spec: field(2, TokenRequestSpec, "Parameters of the requested token.").declaredRequired(),
    status: field(3, TokenRequestStatus, "The issued token, set by the server.").emitEmpty(),
  },
});
export type TokenRequest = ObjectFor<typeof TokenRequest>;

function checkLifetime(seconds: number | bigint, report: FieldReport): void {
  if (seconds < minSeconds) report.invalid(seconds, "may not specify a duration less than 10 minutes");
  if (seconds > maxSeconds) report.invalid(seconds, "may not specify a duration larger than 2^32 seconds");
}

/** Kinds of webhooks, to which tokens with attestations are bound. */
const webhookKinds = new Set(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]);

interface Attested {
  readonly boundObjectRef?:
    { readonly kind?: string | undefined; readonly apiVersion?: string | undefined } | undefined;
  readonly attestations?: Readonly<Record<string, unknown>> | undefined;
}

/** Refuses attestations for a token that is not bound to a webhook; the server binds none to webhooks (see `request-token.ts`). */
function checkAttestations({ boundObjectRef, attestations = {} }: Attested, report: FieldReport): void {
  const isForWebhook = webhookKinds.has(boundObjectRef?.kind ?? "");
  if (isForWebhook || Object.keys(attestations).length === 0) return;
  report
    .at("attestations")
    .invalid(attestations, "attestations may only be specified with a webhook bound object reference");
}
