import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import type { ApiObject, ObjectFor } from "../../schema/kind.ts";
import { declarePriorityLevel, type SharesName } from "./declare-priority-level.ts";

/** Objects are stored in this version, which the release before serves too (spec: conventions 9.2, rule 4b). */
export const PriorityLevelConfigurationV1beta2 = declarePriorityLevel(
  v1beta2,
  "assuredConcurrencyShares",
  false,
);
export type PriorityLevelConfigurationV1beta2 = ObjectFor<typeof PriorityLevelConfigurationV1beta2>;

/** The newer version has another name for a level's shares. */
export const PriorityLevelConfiguration = declarePriorityLevel(v1beta3, "nominalConcurrencyShares", true, {
  stored: () => PriorityLevelConfigurationV1beta2,
  toStored: (object) => renameShares(object, "nominalConcurrencyShares", "assuredConcurrencyShares"),
  fromStored: (object) => renameShares(object, "assuredConcurrencyShares", "nominalConcurrencyShares"),
});
export type PriorityLevelConfiguration = ObjectFor<typeof PriorityLevelConfiguration>;

function renameShares(object: ApiObject, from: SharesName, to: SharesName): ApiObject {
  const spec = object["spec"] as { limited?: Record<string, unknown> } | undefined;
  if (spec?.limited === undefined) return object;
  // What was stored while the newer version was the stored one has the name already.
  const { [from]: shares = spec.limited[to], ...limited } = spec.limited;
  return { ...object, spec: { ...spec, limited: { ...limited, [to]: shares } } };
}
