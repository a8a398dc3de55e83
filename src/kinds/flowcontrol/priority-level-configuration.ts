import { groupAnnotation } from "../../vocabulary/names.ts";
import * as v1 from "./v1.ts";
import * as v1beta2 from "./v1beta2.ts";
import * as v1beta3 from "./v1beta3.ts";
import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject, Conversion, ObjectFor } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { declarePriorityLevel, type SharesName } from "./declare-priority-level.ts";

/**
 * Annotation of an object in a beta version whose level has zero shares; otherwise zero means the default there. `v1` distinguishes
 * the two itself and doesn't have it.
 */
const zeroKeptKey = ({ groupSuffix }: Vocabulary): string =>
  groupAnnotation(groupSuffix, "v1beta3-preserve-zero-concurrency-shares", "flowcontrol");

/** The releases with `v1`. */
const distinguishesZero = applies(since("1.29"));

const isZeroKept = ({ metadata }: ApiObject, context: KindContext): boolean =>
  distinguishesZero(context) && metadata.annotations?.[zeroKeptKey(context.vocabulary)] !== undefined;

/** The stored version, which the previous release serves too (spec: conventions 9.2, rule 4b). */
export const PriorityLevelConfigurationV1beta2 = declarePriorityLevel(v1beta2, {
  sharesName: "assuredConcurrencyShares",
  mergesConditions: false,
  isZeroKept,
});
export type PriorityLevelConfigurationV1beta2 = ObjectFor<typeof PriorityLevelConfigurationV1beta2>;

/** In the newer versions the field with a level's shares has another name. */
const conversion: Conversion = {
  stored: () => PriorityLevelConfigurationV1beta2,
  toStored: (object, context) =>
    noteZero(renameShares(object, "nominalConcurrencyShares", "assuredConcurrencyShares"), context),
  fromStored: (object) => renameShares(object, "assuredConcurrencyShares", "nominalConcurrencyShares"),
};

export const PriorityLevelConfiguration = declarePriorityLevel(v1beta3, {
  sharesName: "nominalConcurrencyShares",
  mergesConditions: true,
  isZeroKept,
  conversion,
});
export type PriorityLevelConfiguration = ObjectFor<typeof PriorityLevelConfiguration>;

/** Release 1.29 and later. */
export const PriorityLevelConfigurationV1 = declarePriorityLevel(v1, {
  sharesName: "nominalConcurrencyShares",
  mergesConditions: true,
  isZeroKept: "always",
  conversion: {
    ...conversion,
    fromStored: (object, context) => withoutNote(conversion.fromStored(object, context), context),
  },
});
export type PriorityLevelConfigurationV1 = ObjectFor<typeof PriorityLevelConfigurationV1>;

function renameShares(object: ApiObject, from: SharesName, to: SharesName): ApiObject {
  const spec = object["spec"] as { limited?: Record<string, unknown> } | undefined;
  if (spec?.limited === undefined) return object;
  // Objects that an older release stored in v1beta3 already have this name.
  const { [from]: shares = spec.limited[to], ...limited } = spec.limited;
  return { ...object, spec: { ...spec, limited: { ...limited, [to]: shares } } };
}

/** Adds the annotation to a stored object with zero shares, and removes it from any other. */
function noteZero(object: ApiObject, context: KindContext): ApiObject {
  const { limited } = (object["spec"] ?? {}) as { limited?: Record<string, unknown> };
  if (limited?.["assuredConcurrencyShares"] !== 0) return withoutNote(object, context);
  if (!distinguishesZero(context)) return object;
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [zeroKeptKey(context.vocabulary)]: "" };
  return { ...object, metadata: { ...metadata, annotations } };
}

function withoutNote(object: ApiObject, context: KindContext): ApiObject {
  if (!isZeroKept(object, context)) return object;
  const { annotations, ...metadata } = object.metadata;
  const { [zeroKeptKey(context.vocabulary)]: _, ...others } = annotations!;
  return {
    ...object,
    metadata: Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others },
  };
}
