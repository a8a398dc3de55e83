import { objectAs } from "../../../schema/api-object.ts";
import { parseQuantity } from "../../../base/quantity.ts";
import type { LimitRange } from "../../../kinds/core/limit-range.ts";
import type { ApiObject } from "../../../schema/kind.ts";

/** The quantity of one resource, such as `cpu`: as written, and in billionths (10^-9). */
export interface Amount {
  readonly resource: string;
  readonly text: string;
  readonly nanos: bigint;
}

/** The limits for one type of objects; each list is sorted by resource. */
export interface TypeLimits {
  /** `Container`, `Pod` or `PersistentVolumeClaim`; others have no effect. */
  readonly type: string;
  readonly min: readonly Amount[];
  readonly max: readonly Amount[];
  readonly maxRatio: readonly Amount[];
  /** Default limits of containers. */
  readonly defaultLimits: readonly Amount[];
  /** Default requests of containers. */
  readonly defaultRequests: readonly Amount[];
}

/** A limit range, parsed. */
export interface LimitRangeFacts {
  readonly name: string;
  readonly limits: readonly TypeLimits[];
}

export function limitRangeFacts(object: ApiObject): LimitRangeFacts {
  const { metadata, spec } = objectAs<LimitRange>(object);
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

function amountsOf(map: Readonly<Record<string, string>> | undefined): Amount[] {
  return Object.entries(map ?? {})
    .map(([resource, text]) => ({ resource, text, nanos: parseQuantity(text).nanos }))
    .toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
}
