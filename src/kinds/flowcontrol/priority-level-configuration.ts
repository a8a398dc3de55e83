import * as v1 from "./v1.ts";
import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import type { ApiObject, Conversion, ObjectFor } from "../../schema/kind.ts";
import { declarePriorityLevel, type SharesName } from "./declare-priority-level.ts";

/** The stored version, which the previous release serves too (spec: conventions 9.2, rule 4b). */
export const PriorityLevelConfigurationV1beta2 = declarePriorityLevel(
  v1beta2,
  "assuredConcurrencyShares",
  false,
);
export type PriorityLevelConfigurationV1beta2 = ObjectFor<typeof PriorityLevelConfigurationV1beta2>;

/** In the newer versions the field with a level's shares has another name. */
const conversion: Conversion = {
  stored: () => PriorityLevelConfigurationV1beta2,
  toStored: (object) => renameShares(object, "nominalConcurrencyShares", "assuredConcurrencyShares"),
  fromStored: (object) => renameShares(object, "assuredConcurrencyShares", "nominalConcurrencyShares"),
};

export const PriorityLevelConfiguration = declarePriorityLevel(
  v1beta3,
  "nominalConcurrencyShares",
  true,
  conversion,
);
export type PriorityLevelConfiguration = ObjectFor<typeof PriorityLevelConfiguration>;

/** Release 1.29 and later. */
export const PriorityLevelConfigurationV1 = declarePriorityLevel(
  v1,
  "nominalConcurrencyShares",
  true,
  conversion,
);
export type PriorityLevelConfigurationV1 = ObjectFor<typeof PriorityLevelConfigurationV1>;

function renameShares(object: ApiObject, from: SharesName, to: SharesName): ApiObject {
  const spec = object["spec"] as { limited?: Record<string, unknown> } | undefined;
  if (spec?.limited === undefined) return object;
  // Objects that an older release stored in v1beta3 already have this name.
  const { [from]: shares = spec.limited[to], ...limited } = spec.limited;
  return { ...object, spec: { ...spec, limited: { ...limited, [to]: shares } } };
}
