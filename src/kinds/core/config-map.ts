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
  doc: "Configuration as keys and values.",
  effect: {
    acts: "the controller `bootstrapsigner` signs `cluster-info`; `root-ca-cert-publisher` keeps the server's authority in one of each namespace",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the map.").emitEmpty(),
    data: field(2, map(string), "Values that are text."),
    binaryData: field(3, map(bytes), "Values that aren't text; their keys differ from those of data."),
    immutable: field(4, bool, "Once true, the content can't be changed, only deleted.").nullable(),
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
      doc: "How many keys the map has.",
      cell: (configMap) =>
        // As in the reference, a number although the column has the type string.
        Object.keys(configMap.data ?? {}).length + Object.keys(configMap.binaryData ?? {}).length,
    },
    ageColumn,
  ],
});
export type ConfigMap = ObjectFor<typeof ConfigMap>;
