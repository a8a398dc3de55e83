import { isDeepStrictEqual } from "node:util";
import { byRelease, since } from "../../base/release-rows.ts";
import { orNone } from "../cells.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { kind, struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int64, list, string, type Static } from "../../schema/types.ts";

const lifecycleModes = ["Ephemeral", "Persistent"];
const groupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];

interface Choices {
  readonly volumeLifecycleModes?: readonly string[] | undefined;
  readonly fsGroupPolicy?: string | undefined;
}

/** Checks allowed values that the published schema doesn't list. */
function checkChoices({ volumeLifecycleModes = [], fsGroupPolicy }: Choices, report: FieldReport): void {
  for (const mode of volumeLifecycleModes) {
    if (report.full) return;
    if (!lifecycleModes.includes(mode)) report.at("volumeLifecycleModes").notSupported(mode, lifecycleModes);
  }
  if (fsGroupPolicy !== undefined && !groupPolicies.includes(fsGroupPolicy)) {
    report.at("fsGroupPolicy").notSupported(fsGroupPolicy, groupPolicies);
  }
}

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

interface Request {
  readonly audience: string;
  readonly expirationSeconds?: number | bigint | undefined;
}

/** Requires unique audiences, and lifetimes of at least ten minutes. */
function checkTokenRequests(requests: readonly Request[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, { audience, expirationSeconds }] of requests.entries()) {
    if (report.full) return;
    const here = report.at(index);
    if (seen.has(audience)) here.at("audience").duplicate(audience);
    seen.add(audience);
    if (expirationSeconds === undefined) continue;
    const seconds = here.at("expirationSeconds");
    if (expirationSeconds < minTokenSeconds) {
      seconds.invalid(expirationSeconds, "may not specify a duration less than 10 minutes");
    }
    if (expirationSeconds > maxTokenSeconds) {
      seconds.invalid(expirationSeconds, "may not specify a duration larger than 2^32 seconds");
    }
  }
}

const TokenRequest = struct("TokenRequest", "A token of the pod's service account for a driver.", {
  audience: field(1, string, "Audience of the token; empty means the API server.").declaredRequired(),
  expirationSeconds: field(2, int64, "Lifetime of the token in seconds.").nullable(),
});

function updatePeriod(seconds: number | bigint, report: FieldReport): void {
  if (seconds < 10) report.invalid(seconds, "must be greater than or equal to 10 seconds");
}

const CSIDriverSpec = struct(
  "CSIDriverSpec",
  "Capabilities and requirements of a driver.",
  {
    attachRequired: field(1, bool, "Whether volumes must be attached before they are mounted. Default: true.")
      .nullable()
      .unpublishedDefault(true),
    podInfoOnMount: field(
      2,
      bool,
      "Whether the driver gets information about the pod on mounts. Default: false.",
    )
      .nullable()
      .unpublishedDefault(false),
    volumeLifecycleModes: field(
      3,
      list(string),
      "Modes of volumes that the driver supports: Persistent, Ephemeral. Default: Persistent.",
    )
      .set()
      .unpublishedDefault(["Persistent"])
      .knownValues("Ephemeral", "Persistent"),
    storageCapacity: field(
      4,
      bool,
      "Whether the scheduler considers the storage capacities that the driver publishes. Default: false.",
    )
      .nullable()
      .unpublishedDefault(false),
    fsGroupPolicy: field(
      5,
      string,
      "Support of `fsGroup`: File, None or ReadWriteOnceWithFSType. Default: ReadWriteOnceWithFSType.",
    )
      .nullable()
      .unpublishedDefault("ReadWriteOnceWithFSType")
      .knownValues("File", "None", "ReadWriteOnceWithFSType"),
    tokenRequests: field(6, list(TokenRequest), "Service account tokens that the driver gets on mounts.")
      .atomic()
      .check(checkTokenRequests),
    requiresRepublish: field(
      7,
      bool,
      "Whether the driver is called periodically to refresh mounted volumes. Default: false.",
    )
      .nullable()
      .unpublishedDefault(false),
    seLinuxMount: field(
      8,
      bool,
      "Whether the driver supports mounts with an SELinux context. Default: false.",
    )
      .nullable()
      .unpublishedDefault(false)
      .gated("SELinuxMountReadWriteOncePod"),
  },
  {
    later: () => ({
      nodeAllocatableUpdatePeriodSeconds: since(
        "1.33",
        field(9, int64, "Seconds between updates of the `allocatable` volumes of a node; at least 10.")
          .nullable()
          .check(updatePeriod)
          .gated("MutableCSINodeAllocatableCount"),
      ),
      serviceAccountTokenInSecrets: since(
        "1.35",
        field(
          10,
          bool,
          "Whether service account tokens are passed in the secrets of a call, not in its volume context.",
        )
          .nullable()
          .gated("CSIServiceAccountTokenSecrets"),
      ),
      preventPodSchedulingIfMissing: since(
        "1.36",
        field(
          11,
          bool,
          "Whether to schedule pods that use the driver only to nodes that have it. Default: false.",
        )
          .nullable()
          .unpublishedDefault(false)
          .gated("VolumeLimitScaling"),
      ),
    }),
  },
);

const tokensInSecrets =
  "spec.serviceAccountTokenInSecrets: recommended to be set explicitly when spec.tokenRequests is configured; the tokens are otherwise in the volume context";

type Spec = Static<typeof CSIDriverSpec> | undefined;

/** The part of the spec whose changes increment the generation. */
const countedPart = byRelease<(spec: Spec) => unknown>(
  (spec) => [spec?.tokenRequests, spec?.requiresRepublish, spec?.seLinuxMount],
  since("1.30", (spec) => spec),
);

/** Members of the spec that can't be changed. */
const fixedMembers = byRelease<readonly ("fsGroupPolicy" | "podInfoOnMount" | "volumeLifecycleModes")[]>(
  ["fsGroupPolicy", "podInfoOnMount", "volumeLifecycleModes"],
  since("1.30", ["volumeLifecycleModes"]),
);

export const CSIDriver = kind({
  name: "CSIDriver",
  resource: "csidrivers",
  singular: "csidriver",
  scope: "Cluster",
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  doc: "A CSI storage driver installed in the cluster.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata; the name is the name of the driver.").emitEmpty(),
    spec: field(2, CSIDriverSpec, "Capabilities and requirements of the driver.").declaredRequired(),
  },
  prepareUpdate(copy, live, context) {
    // New drivers have no generation; the first change of these members sets it to 1.
    if (!isDeepStrictEqual(countedPart(context)(copy.spec), countedPart(context)(live.spec))) {
      copy.metadata.generation = Number(live.metadata.generation ?? 0) + 1;
    }
  },
  validate(driver, report) {
    checkChoices(driver.spec ?? {}, report.at("spec"));
  },
  validateUpdate({ spec = {} }, live, report, context) {
    const before = live.spec ?? {};
    // The spelling of the reference.
    unchanged(spec.attachRequired, before.attachRequired, report.at("spec", "attachedRequired"));
    for (const name of fixedMembers(context)) unchanged(spec[name], before[name], report.at("spec", name));
  },
  warnings({ spec }, context, live) {
    if (!context.enabled("CSIServiceAccountTokenSecrets")) return [];
    const requests = spec?.tokenRequests ?? [];
    const changed = !isDeepStrictEqual(requests, live?.spec?.tokenRequests ?? []);
    const explicit = (spec as { serviceAccountTokenInSecrets?: boolean }).serviceAccountTokenInSecrets;
    return changed && requests.length > 0 && explicit === undefined ? [tokensInSecrets] : [];
  },
  columns: [
    nameColumn,
    {
      name: "AttachRequired",
      type: "boolean",
      doc: "Whether volumes must be attached before they are mounted.",
      cell: ({ spec }) => spec?.attachRequired ?? true,
    },
    {
      name: "PodInfoOnMount",
      type: "boolean",
      doc: "Whether the driver gets information about the pod on mounts.",
      cell: ({ spec }) => spec?.podInfoOnMount ?? false,
    },
    {
      name: "StorageCapacity",
      type: "boolean",
      doc: "Whether the scheduler considers the storage capacities that the driver publishes.",
      cell: ({ spec }) => spec?.storageCapacity ?? false,
    },
    {
      name: "TokenRequests",
      type: "string",
      doc: "Audiences of the service account tokens for the driver.",
      cell: ({ spec }) => spec?.tokenRequests?.map(({ audience }) => audience).join(",") ?? "<unset>",
    },
    {
      name: "RequiresRepublish",
      type: "boolean",
      doc: "Whether the driver is called periodically to refresh mounted volumes.",
      cell: ({ spec }) => spec?.requiresRepublish ?? false,
    },
    {
      name: "Modes",
      type: "string",
      doc: "Modes of volumes that the driver supports.",
      cell: ({ spec }) => orNone(spec?.volumeLifecycleModes?.join(",")),
    },
    ageColumn,
  ],
});
export type CSIDriver = ObjectFor<typeof CSIDriver>;
