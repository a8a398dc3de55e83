import { kind } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, bytes, field, map, string } from "../../schema/types.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkDataKeys, checkImmutable, decodedBytes, maxDataBytes } from "./data-keys.ts";

export const ConfigMap = kind({
  name: "ConfigMap",
  resource: "configmaps",
  singular: "configmap",
  shortNames: ["cm"],
  scope: "Namespaced",
  doc: "Configuration data as keys and values.",
  effect: {
    acts: "the controller `bootstrapsigner` signs `cluster-info`; `root-ca-cert-publisher` keeps the server's authority in one of each namespace",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the ConfigMap.").emitEmpty(),
    data: field(2, map(string), "Values in UTF-8, by key."),
    binaryData: field(3, map(bytes), "Values that are not UTF-8, by key; keys in `data` are not allowed."),
    immutable: field(
      4,
      bool,
      "Whether the data is immutable; once true, only the deletion of the object is possible.",
    ).nullable(),
  },
  validate(configMap, report) {
    checkDataKeys({ data: configMap.data, binaryData: configMap.binaryData }, report);
    let size = 0;
    for (const text of Object.values(configMap.data ?? {})) size += Buffer.byteLength(text);
    for (const text of Object.values(configMap.binaryData ?? {})) size += decodedBytes(text);
    if (size > maxDataBytes) report.tooLong(maxDataBytes);
  },
  validateUpdate(configMap, live, report) {
    checkImmutable(
      live,
      configMap,
      [
        ["data", live.data, configMap.data],
        ["binaryData", live.binaryData, configMap.binaryData],
      ],
      report,
    );
  },
  columns: [
    nameColumn,
    {
      name: "Data",
      type: "string",
      doc: "Number of keys.",
      cell: (configMap) =>
        // As in the reference, a number although the column has the type string.
        Object.keys(configMap.data ?? {}).length + Object.keys(configMap.binaryData ?? {}).length,
    },
    ageColumn,
  ],
});
export type ConfigMap = ObjectFor<typeof ConfigMap>;
