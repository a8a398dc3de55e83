import { parseQuantity } from "../../../base/quantity.ts";
import type { LimitRange } from "../../../kinds/core/limit-range.ts";
import type { ApiObject } from "../../../schema/kind.ts";

/** What is set for one resource, such as `cpu`: as it is written, and in billionths. */
export interface Amount {
  readonly resource: string;
  readonly text: string;
  readonly nanos: bigint;
}

/** The limits of one type of objects, read once; each list in the order of the resources' names. */
export interface TypeLimits {
  /** `Container`, `Pod` or `PersistentVolumeClaim`; others limit nothing. */
  readonly type: string;
  readonly min: readonly Amount[];
  readonly max: readonly Amount[];
  readonly maxRatio: readonly Amount[];
  /** Limits of containers that set none. */
  readonly defaultLimits: readonly Amount[];
  /** Requests of containers that set none. */
  readonly defaultRequests: readonly Amount[];
}

/** A limit range as the plugin uses it. */
export interface LimitRangeFacts {
  readonly name: string;
  readonly limits: readonly TypeLimits[];
}

/** Reads the limits of a limit range. */
export function limitRangeFacts(object: ApiObject): LimitRangeFacts {
  const { metadata, spec } = object as unknown as LimitRange;
  const limits = (spec?.limits ?? []).map(
    ({ type, min, max, maxLimitRequestRatio, default: byDefault, defaultRequest }) => ({
      type,
      min: amountsOf(min),
      max: amountsOf(max),
      maxRatio: amountsOf(maxLimitRequestRatio),
      defaultLimits: amountsOf(byDefault),
      defaultRequests: amountsOf(defaultRequest),
    }),
  );
  return { name: metadata.name!, limits };
}

/** The amounts of a map from resources to quantities. */
function amountsOf(map: Readonly<Record<string, string>> | undefined): Amount[] {
  return Object.entries(map ?? {})
    .map(([resource, text]) => ({ resource, text, nanos: parseQuantity(text).nanos }))
    .toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
}
