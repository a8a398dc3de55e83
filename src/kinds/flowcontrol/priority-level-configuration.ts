import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import type { ApiObject, ObjectFor } from "../../schema/kind.ts";
import { declarePriorityLevel, type SharesName } from "./declare-priority-level.ts";

export const PriorityLevelConfiguration = declarePriorityLevel(v1beta3, "nominalConcurrencyShares", true);
export type PriorityLevelConfiguration = ObjectFor<typeof PriorityLevelConfiguration>;

/** The older version has another name for a level's shares. */
export const PriorityLevelConfigurationV1beta2 = declarePriorityLevel(
  v1beta2,
  "assuredConcurrencyShares",
  false,
  {
    stored: () => PriorityLevelConfiguration,
    toStored: (object) => renameShares(object, "assuredConcurrencyShares", "nominalConcurrencyShares"),
    fromStored: (object) => renameShares(object, "nominalConcurrencyShares", "assuredConcurrencyShares"),
  },
);
export type PriorityLevelConfigurationV1beta2 = ObjectFor<typeof PriorityLevelConfigurationV1beta2>;

function renameShares(object: ApiObject, from: SharesName, to: SharesName): ApiObject {
  const spec = object["spec"] as { limited?: Record<string, unknown> } | undefined;
  if (spec?.limited === undefined) return object;
  const { [from]: shares, ...limited } = spec.limited;
  return { ...object, spec: { ...spec, limited: { ...limited, [to]: shares } } };
}
