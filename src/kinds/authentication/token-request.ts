import { kind, struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
import { field, int64, list, map, string, time } from "../../schema/types.ts";

const minSeconds = 10 * 60;
/** The reference stores the number of seconds in 32 bits. */
const maxSeconds = 2 ** 32;

const BoundObjectReference = struct("BoundObjectReference", "An object that a token lives and ends with.", {
  kind: field(1, string, "Kind of the object: Pod or Secret."),
  apiVersion: field(2, string, "Group and version of the object's kind."),
  name: field(3, string, "Name of the object."),
  uid: field(4, string, "Unique identifier of the object."),
});

const TokenRequestSpec = struct(
  "TokenRequestSpec",
  "What is asked of a token.",
  {
    audiences: field(1, list(string), "Those whom the token is meant for; empty stands for the server.")
      .declaredRequired()
      .atomic(),
    boundObjectRef: field(3, BoundObjectReference, "The token holds only as long as this object exists.")
      .emitEmpty()
      .nullable(),
    expirationSeconds: field(4, int64, "How long the token is to hold; the server may give another time.")
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
          "Claims by their key that the server attests to, for tokens of webhooks.",
        ),
      ),
    }),
  },
);

const TokenRequestStatus = struct("TokenRequestStatus", "The answer to a request for a token.", {
  token: field(1, string, "The token.").declaredRequired(),
  expirationTimestamp: field(2, time, "When the token stops to hold.").declaredRequired(),
});

/** Body and response of the subresource `token` of a ServiceAccount. */
export const TokenRequest = kind({
  name: "TokenRequest",
  resource: "tokenrequests",
  singular: "tokenrequest",
  scope: "Namespaced",
  doc: "Asks for a token of a service account.",
  verbs: [],
  fields: {
    metadata: field(1, ObjectMeta, "Names the service account that is meant.").emitEmpty(),
    spec: field(2, TokenRequestSpec, "What is asked of the token.").declaredRequired(),
    status: field(3, TokenRequestStatus, "The token; set by the server.").emitEmpty(),
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
