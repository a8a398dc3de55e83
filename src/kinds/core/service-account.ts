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
  doc: "An identity for programs, bound to a namespace.",
  effect: {
    enforced:
      "pods run under one that exists and get its token (plugin ServiceAccount); tokens are issued for it, and end with it",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the account.").emitEmpty(),
    secrets: field(2, list(ObjectReference), "Secrets that programs with this identity may use.")
      .mapBy("name")
      .patchMerge("name"),
    imagePullSecrets: field(
      3,
      list(LocalObjectReference),
      "Secrets with which its programs' images are fetched.",
    ).atomic(),
    automountServiceAccountToken: field(
      4,
      bool,
      "Whether its programs get a token without asking.",
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
      doc: "How many secrets the account names.",
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
