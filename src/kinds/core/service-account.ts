import { labelKey } from "../../vocabulary/names.ts";
import { since, until } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import { kind } from "./v1.ts";
import type { Column } from "../../schema/columns.ts";
import { type ObjectFor, type ApiObject } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list } from "../../schema/types.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { TokenRequest } from "../authentication/token-request.ts";
import { LocalObjectReference, ObjectReference } from "./references.ts";

type WithMetadata = Pick<ApiObject, "metadata">;

function secretsWarnings(
  { metadata }: WithMetadata,
  { vocabulary }: KindContext,
  live: WithMetadata | undefined,
): string[] {
  const key = labelKey(vocabulary.domain, "enforce-mountable-secrets");
  const isAdded =
    metadata.annotations?.[key] !== undefined && live?.metadata.annotations?.[key] === undefined;
  if (!isAdded) return [];
  return [
    `metadata.annotations[${key}]: deprecated since v1.32; keep accounts that may not share secrets in separate namespaces`,
  ];
}

const secretsColumn: Column<{ readonly secrets?: readonly unknown[] | undefined }> = {
  name: "Secrets",
  type: "string",
  doc: "Number of Secrets in `secrets`.",
  // As in the reference, a number although the column has the type string.
  cell: (account) => (account.secrets ?? []).length,
};

export const ServiceAccount = kind({
  name: "ServiceAccount",
  resource: "serviceaccounts",
  singular: "serviceaccount",
  shortNames: ["sa"],
  scope: "Namespaced",
  returnsDeletedObject: true,
  doc: "An identity for processes in the pods of a namespace.",
  effect: {
    enforced:
      "pods run under one that exists and get its token (plugin ServiceAccount); tokens are issued for it, and end with it",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the ServiceAccount.").emitEmpty(),
    secrets: field(2, list(ObjectReference), "Secrets that pods with this account may use.")
      .mapBy("name")
      .patchMerge("name"),
    imagePullSecrets: field(
      3,
      list(LocalObjectReference),
      "Secrets with credentials for pulling the images of pods with this account.",
    ).atomic(),
    automountServiceAccountToken: field(
      4,
      bool,
      "Whether pods mount a token of this account, unless they specify otherwise.",
    ).nullable(),
  },
  subresources: {
    token: { shape: "action", verbs: ["create"], kind: () => TokenRequest },
  },
  columns: [nameColumn, until("1.35", secretsColumn), ageColumn],
  warnings: since("1.32", secretsWarnings),
});
export type ServiceAccount = ObjectFor<typeof ServiceAccount>;
