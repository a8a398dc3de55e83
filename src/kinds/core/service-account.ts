import { labelKey } from "../../vocabulary/names.ts";
import { isAtLeast } from "../../base/releases.ts";
import { kind } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, list } from "../../schema/types.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { TokenRequest } from "../authentication/token-request.ts";
import { LocalObjectReference, ObjectReference } from "./references.ts";

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
  laterColumns: [{ since: "1.35", removed: "Secrets" }],
  columns: [
    nameColumn,
    {
      name: "Secrets",
      type: "string",
      doc: "Number of Secrets in `secrets`.",
      // As in the reference, a number although the column has the type string.
      cell: (account) => (account.secrets ?? []).length,
    },
    ageColumn,
  ],
  warnings: ({ metadata }, { vocabulary, release }, live) => {
    const key = labelKey(vocabulary.domain, "enforce-mountable-secrets");
    const isAdded =
      metadata.annotations?.[key] !== undefined && live?.metadata.annotations?.[key] === undefined;
    if (!isAdded || !isAtLeast(release, "1.32")) return [];
    return [
      `metadata.annotations[${key}]: deprecated since v1.32; keep accounts that may not share secrets in separate namespaces`,
    ];
  },
});
export type ServiceAccount = ObjectFor<typeof ServiceAccount>;
