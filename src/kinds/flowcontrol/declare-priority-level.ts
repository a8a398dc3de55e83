import { since } from "../../base/release-rows.ts";
import type { Column } from "../../schema/columns.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject, Conversion } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, string } from "../../schema/types.ts";
import { between, nonNegative } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { declareStatus, type Declarations } from "./condition.ts";
import { checkLevel, checkLimitResponse, checkQueuing } from "./level-rules.ts";
import { checkMandatory, exemptLevel, mandatoryLevels } from "./mandatory.ts";

const defaultShares = 30;

/** Name of the field with a level's share of concurrent requests, which depends on the version. */
export type SharesName = "assuredConcurrencyShares" | "nominalConcurrencyShares";

/** How a version of PriorityLevelConfiguration differs from the others. */
export interface LevelVersion {
  readonly sharesName: SharesName;
  readonly mergesConditions: boolean;
  /** Whether zero shares of an object are kept; otherwise they mean the default, as absent ones do. */
  readonly isZeroKept: "always" | ((object: ApiObject, context: KindContext) => boolean);
  readonly conversion?: Conversion;
}

/** Declares PriorityLevelConfiguration in one version of the group. */
export function declarePriorityLevel<const V extends string>(
  declarations: Declarations<V>,
  version: LevelVersion,
) {
  const { sharesName, mergesConditions, conversion } = version;
  const status = declareStatus(declarations, "PriorityLevelConfiguration", mergesConditions);
  return declarations.kind({
    name: "PriorityLevelConfiguration",
    resource: "prioritylevelconfigurations",
    singular: "prioritylevelconfiguration",
    scope: "Cluster",
    doc: "Limits the number of requests that are handled concurrently.",
    effect: { enforced: "limits how many requests of the level are served at the same time" },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the priority level.").emitEmpty(),
      spec: field(2, declareSpec(declarations, version), "Limits of the priority level.").emitEmpty(),
      status: field(3, status, "Observed state of the priority level.").emitEmpty(),
    },
    ...(conversion === undefined ? {} : { conversion }),
    fillDefaults: (copy, context) => fillShares(copy as ApiObject, version, context),
    generationOf: ({ spec }) => spec,
    validate({ metadata, spec }, report, context) {
      const { name = "" } = metadata;
      if (spec === undefined) return;
      checkLevel(spec, name, report.at("spec"), context);
      const { exempt: _shares, ...fixed } = spec as { readonly exempt?: unknown };
      const compared = name === exemptLevel ? fixed : spec;
      checkMandatory(name, compared, mandatorySpecs(sharesName), report.at("spec"));
    },
    status: {
      initial: () => ({}),
      keepsMetadata: "all",
    },
    columns: levelColumns(sharesName),
  });
}

function fillShares(copy: ApiObject, { sharesName, isZeroKept }: LevelVersion, context: KindContext): void {
  const { limited } = (copy["spec"] ?? {}) as { limited?: Record<string, unknown> | null };
  if (limited === undefined || limited === null) return;
  const shares = limited[sharesName] ?? undefined;
  if (shares === undefined || (shares === 0 && isZeroKept !== "always" && !isZeroKept(copy, context)))
    limited[sharesName] = defaultShares;
}

/** Returns the specs of the mandatory levels in a version, without the shares of `exempt`, which may be changed. */
function mandatorySpecs(sharesName: SharesName): Readonly<Record<string, object>> {
  const levels = mandatoryLevels(undefined);
  if (sharesName === "nominalConcurrencyShares") return levels;
  return Object.fromEntries(
    Object.entries(levels).map(([name, spec]) => [name, renamedShares(spec, sharesName)]),
  );
}

function renamedShares(spec: Level["spec"] & object, sharesName: SharesName): object {
  if (spec.limited === undefined) return spec;
  const { nominalConcurrencyShares: shares, ...others } = spec.limited as Readonly<Record<string, unknown>>;
  return { ...spec, limited: { ...others, [sharesName]: shares } };
}

interface Level {
  readonly spec?: { readonly type: string; readonly limited?: unknown } | undefined;
}

function levelColumns(sharesName: SharesName): Column<Level & ApiObject>[] {
  return [
    nameColumn,
    {
      name: "Type",
      type: "string",
      doc: "Type of the level: Limited or Exempt.",
      cell: ({ spec }) => spec?.type ?? "",
    },
    {
      name: "NominalConcurrencyShares",
      type: "string",
      doc: "Shares of the server's concurrency limit.",
      cell: ({ spec }) => shownLimits(spec)[sharesName] ?? "<none>",
    },
    {
      name: "Queues",
      type: "string",
      doc: "Number of queues.",
      cell: ({ spec }) => shownLimits(spec).limitResponse?.queuing?.queues ?? "<none>",
    },
    {
      name: "HandSize",
      type: "string",
      doc: "Number of queues considered for each flow.",
      cell: ({ spec }) => shownLimits(spec).limitResponse?.queuing?.handSize ?? "<none>",
    },
    {
      name: "QueueLengthLimit",
      type: "string",
      doc: "Maximum number of waiting requests in a queue.",
      cell: ({ spec }) => shownLimits(spec).limitResponse?.queuing?.queueLengthLimit ?? "<none>",
    },
    ageColumn,
  ];
}

/** The limits that columns show, in any version. */
type Limits = { readonly [name in SharesName]?: number } & {
  readonly limitResponse?: {
    readonly queuing?: {
      readonly queues?: number;
      readonly handSize?: number;
      readonly queueLengthLimit?: number;
    };
  };
};

function shownLimits(spec: { readonly limited?: unknown } | undefined): Limits {
  return (spec?.limited ?? {}) as Limits;
}

function declareSpec(declarations: Declarations, { sharesName, isZeroKept }: LevelVersion) {
  const { struct } = declarations;
  const shares = field(1, int32, "Shares of the server's concurrency limit. Default: 30.");
  const limited = struct("LimitedPriorityLevelConfiguration", "Concurrency limits of a priority level.", {
    [sharesName]: (isZeroKept === "always" ? shares.nullable() : shares.emitEmpty()).check(nonNegative),
    limitResponse: field(
      2,
      declareLimitResponse(declarations),
      "Handling of requests above the limit.",
    ).emitEmpty(),
    lendablePercent: field(
      3,
      int32,
      "Percentage of the level's concurrency that other levels may borrow, 0 to 100. Default: 0.",
    )
      .nullable()
      .unpublishedDefault(0)
      .check(between(0, 100)),
    borrowingLimitPercent: field(
      4,
      int32,
      "Maximum to borrow from other levels, as a percentage of the level's own limit; absent: no maximum.",
    )
      .nullable()
      .check(nonNegative),
  });
  return struct(
    "PriorityLevelConfigurationSpec",
    "Limits of a priority level.",
    {
      type: field(1, string, "Type of the level: Limited, or Exempt for requests without limits.")
        .declaredRequired()
        .knownValues("Exempt", "Limited"),
      limited: field(2, limited, "The limits; only for the type Limited.").nullable(),
    },
    {
      later: () => ({
        exempt: since(
          "1.28",
          field(
            3,
            declareExempt(declarations),
            "Shares that other levels may borrow; only for the type Exempt.",
          ).nullable(),
        ),
      }),
    },
  );
}

function declareExempt({ struct }: Declarations) {
  return struct("ExemptPriorityLevelConfiguration", "Concurrency shares of an exempt priority level.", {
    nominalConcurrencyShares: field(
      1,
      int32,
      "Shares that other levels may borrow; they do not limit this level. Default: 0.",
    )
      .nullable()
      .unpublishedDefault(0)
      .check(nonNegative),
    lendablePercent: field(
      2,
      int32,
      "Percentage of the shares that other levels may borrow, 0 to 100. Default: 0.",
    )
      .nullable()
      .unpublishedDefault(0)
      .check(between(0, 100)),
  });
}

function declareLimitResponse({ struct }: Declarations) {
  const queuing = struct(
    "QueuingConfiguration",
    "The queues of a priority level.",
    {
      queues: field(1, int32, "Number of queues. Default: 64.").emitEmpty(),
      handSize: field(
        2,
        int32,
        "Number of queues considered for each flow; the shortest one is used. Default: 8.",
      ).emitEmpty(),
      queueLengthLimit: field(
        3,
        int32,
        "Maximum number of waiting requests in a queue. Default: 50.",
      ).emitEmpty(),
    },
    {
      fill(copy) {
        copy.queues ||= 64;
        copy.handSize ||= 8;
        copy.queueLengthLimit ||= 50;
      },
      check: checkQueuing,
    },
  );
  return struct(
    "LimitResponse",
    "Handling of requests above the limit.",
    {
      type: field(1, string, "Handling of requests above the limit: Queue, or Reject with status 429.")
        .declaredRequired()
        .knownValues("Queue", "Reject"),
      queuing: field(2, queuing, "The queues; only for the type Queue.").nullable(),
    },
    { check: checkLimitResponse },
  );
}
