import { defaultRelease, type Release } from "../../src/base/releases.ts";
import { checkFields } from "../../src/schema/check.ts";
import type { KindContext } from "../../src/schema/context.ts";
import { decode } from "../../src/schema/decode.ts";
import { fillFieldDefaults } from "../../src/schema/defaults.ts";
import { FieldReport } from "../../src/schema/faults.ts";
import { kindInRelease } from "../../src/schema/kind-in-release.ts";
import type { ApiObject, Kind } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";

/** Result of preparing and validating an object with its kind, as the server does. */
export interface Judged {
  readonly object: ApiObject;
  /** `path: reason`, for example `spec.containers: FieldValueRequired`. */
  readonly faults: readonly string[];
  /** `path: message`. */
  readonly messages: readonly string[];
}

export interface JudgeOptions {
  readonly gates?: readonly string[];
  readonly subresource?: string;
  /** The release of the kind and of the rules; a kind that already is a copy for a release stays as it is. */
  readonly release?: Release;
  /** Whether the object before an update has the status that it is given. */
  readonly keepsStatus?: boolean;
}

function contextOf({ gates = [], subresource = "", release }: JudgeOptions): KindContext {
  return { vocabulary: platform, enabled: (gate) => gates.includes(gate), subresource, release };
}

function inRelease(kind: Kind, { release = defaultRelease }: JudgeOptions): Kind {
  return kind.declaration === undefined && release !== defaultRelease ? kindInRelease(kind, release) : kind;
}

/** Decodes an object and sets its default values. */
export function readAs(declared: Kind, value: object, options: JudgeOptions = {}): ApiObject {
  const kind = inRelease(declared, options);
  const object = decode(kind.type, { metadata: { name: "one" }, ...value }).value as ApiObject;
  const context = contextOf(options);
  fillFieldDefaults(kind.type, object, context);
  kind.fillDefaults?.(object, context);
  return object;
}

function judge(kind: Kind, object: ApiObject, live: ApiObject | undefined, context: KindContext): Judged {
  const report = FieldReport.start();
  kind.validate?.(object, report, context);
  if (live === undefined) kind.validateCreate?.(object, report, context);
  else kind.validateUpdate?.(object, live, report, context);
  checkFields(kind.type, object, report, context);
  report.finishAtOnce();
  return {
    object,
    faults: report.faults.map(({ field, reason }) => `${field}: ${reason}`),
    messages: report.faults.map(({ field, message }) => `${field}: ${message}`),
  };
}

/** Prepares and validates an object for a create. */
export function judgeNew(declared: Kind, value: object, options: JudgeOptions = {}): Judged {
  const kind = inRelease(declared, options);
  const object = readAs(kind, value, options);
  const context = contextOf(options);
  kind.prepareCreate?.(object, context);
  return judge(kind, object, undefined, context);
}

/** Creates an object from `before`, then prepares and validates an update with `now`. */
export function judgeUpdate(declared: Kind, before: object, now: object, options: JudgeOptions = {}): Judged {
  const kind = inRelease(declared, options);
  const context = contextOf(options);
  const live = readAs(kind, before, options);
  const status = live["status"];
  kind.prepareCreate?.(live, context);
  if (options.keepsStatus === true) live["status"] = status;
  const object = readAs(kind, now, options);
  const part = options.subresource === undefined ? undefined : kind.subresources[options.subresource];
  if (part !== undefined && part.shape === undefined) {
    const copy = structuredClone(live);
    part.merge(copy, object, context);
    return judge(kind, copy, live, context);
  }
  kind.prepareUpdate?.(object, live, context);
  return judge(kind, object, live, context);
}

/** Returns the table cells of an object by column name; `now` is a time in RFC 3339. */
export function cellsOf(kind: Kind, value: object, now = "2024-01-01T00:00:00Z"): Record<string, unknown> {
  const object = readAs(kind, value);
  return Object.fromEntries(
    (kind.columns ?? []).map(({ name, cell }) => [name, cell(object, Date.parse(now), platform)]),
  );
}

/** Returns the warnings for a new object, or for a change of `before`. */
export function warningsOf(
  declared: Kind,
  value: object,
  options: JudgeOptions = {},
  before?: object,
): readonly string[] {
  const kind = inRelease(declared, options);
  const context = contextOf(options);
  const live = before === undefined ? undefined : readAs(kind, before, options);
  return kind.warnings?.(readAs(kind, value, options), context, live) ?? [];
}
