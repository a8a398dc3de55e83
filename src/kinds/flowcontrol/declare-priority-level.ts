import type { Column } from "../../schema/columns.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject, Conversion } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
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
    doc: "Limits how many requests of a level are handled at one time.",
    effect: { enforced: "limits how many requests of the level are served at the same time" },
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the priority level.").emitEmpty(),
      spec: field(2, declareSpec(declarations, version), "How the level is limited.").emitEmpty(),
      status: field(3, status, "What became of it.").emitEmpty(),
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
      doc: "Whether the level is limited.",
      cell: ({ spec }) => spec?.type ?? "",
    },
    {
      name: "NominalConcurrencyShares",
      type: "string",
      doc: "The level's share of the requests that the server handles at one time.",
      cell: ({ spec }) => shownLimits(spec)[sharesName] ?? "<none>",
    },
    {
      name: "Queues",
      type: "string",
      doc: "How many queues there are.",
      cell: ({ spec }) => shownLimits(spec).limitResponse?.queuing?.queues ?? "<none>",
    },
    {
      name: "HandSize",
      type: "string",
      doc: "Among how many queues a flow chooses.",
      cell: ({ spec }) => shownLimits(spec).limitResponse?.queuing?.handSize ?? "<none>",
    },
    {
      name: "QueueLengthLimit",
      type: "string",
      doc: "How many requests may wait in one queue.",
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
  const shares = field(1, int32, "Its share of the requests that the server handles at one time.");
  const limited = struct(
    "LimitedPriorityLevelConfiguration",
    "How much a limited priority level may do at one time.",
    {
      [sharesName]: (isZeroKept === "always" ? shares.nullable() : shares.emitEmpty()).check(nonNegative),
      limitResponse: field(
        2,
        declareLimitResponse(declarations),
        "What happens to requests beyond that.",
      ).emitEmpty(),
      lendablePercent: field(3, int32, "How much of its share others may borrow, in percent.")
        .nullable()
        .unpublishedDefault(0)
        .check(between(0, 100)),
      borrowingLimitPercent: field(
        4,
        int32,
        "How much it may borrow of others, in percent of its share; absent: any amount.",
      )
        .nullable()
        .check(nonNegative),
    },
  );
  return struct(
    "PriorityLevelConfigurationSpec",
    "How a priority level is limited.",
    {
      type: field(1, string, "Whether its requests are limited at all.")
        .declaredRequired()
        .knownValues("Exempt", "Limited"),
      limited: field(2, limited, "The limits, for the type Limited.").nullable(),
    },
    {
      later: () => ({
        exempt: since(
          "1.28",
          field(3, declareExempt(declarations), "Shares, for the type Exempt.").nullable(),
        ),
      }),
    },
  );
}

function declareExempt({ struct }: Declarations) {
  return struct("ExemptPriorityLevelConfiguration", "The shares of an exempt priority level.", {
    nominalConcurrencyShares: field(
      1,
      int32,
      "Shares that others may borrow; the level isn't limited by them.",
    )
      .nullable()
      .unpublishedDefault(0)
      .check(nonNegative),
    lendablePercent: field(2, int32, "How much of its share others may borrow, in percent.")
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
      queues: field(1, int32, "How many queues there are.").emitEmpty(),
      handSize: field(2, int32, "Among how many queues a flow chooses the shortest.").emitEmpty(),
      queueLengthLimit: field(3, int32, "How many requests may wait in one queue.").emitEmpty(),
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
    "What happens to requests that can't be served at once.",
    {
      type: field(1, string, "They wait in a queue, or are refused.")
        .declaredRequired()
        .knownValues("Queue", "Reject"),
      queuing: field(2, queuing, "The queues, where they wait.").nullable(),
    },
    { check: checkLimitResponse },
  );
}
