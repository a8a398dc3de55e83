import * as v1alpha2 from "./v1alpha2.ts";
import * as v1beta1 from "./v1beta1.ts";
import { configMapKeyFaults } from "../../base/names.ts";
import { compareVersions, parseSemver, Semver } from "../../cel/values/semantic-versions.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Conversion, Declarations, ObjectFor } from "../../schema/kind.ts";
import { replacedIn } from "../../schema/added-fields.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, microTime, string } from "../../schema/types.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import type { coordination } from "../groups.ts";
import { checkStrategy, oldestEmulationVersion } from "./lease.ts";
import { sameFields } from "../same-fields.ts";

interface CandidateSpec {
  readonly leaseName: string;
  readonly binaryVersion: string;
  readonly emulationVersion?: string | undefined;
  readonly strategy: string;
}

/** Declares LeaseCandidate in one version of the group. */
function declareLeaseCandidate<const V extends string>(
  { kind, struct }: Declarations<typeof coordination, V>,
  conversion?: Conversion,
) {
  const spec = struct("LeaseCandidateSpec", "A candidate for the holder of a lease.", {
    leaseName: field(1, string, "Name of the lease; immutable.").declaredRequired(),
    pingTime: field(2, microTime, "Time at which the server last asked the candidate to renew.").nullable(),
    renewTime: field(3, microTime, "Time at which the candidate last renewed.").nullable(),
    binaryVersion: field(4, string, "Semantic version of the candidate.").declaredRequired(),
    emulationVersion: field(
      5,
      string,
      "Semantic version that the candidate emulates; at most `binaryVersion`.",
    ),
    strategy: field(6, string, "Strategy for choosing the holder, such as OldestEmulationVersion.")
      .declaredRequired()
      .knownValues(oldestEmulationVersion),
  });
  const candidate = field(2, spec, "The lease and the versions of the candidate.");
  return kind({
    name: "LeaseCandidate",
    resource: "leasecandidates",
    singular: "leasecandidate",
    scope: "Namespaced",
    servedByDefault: false,
    nameForm: "pathSegment",
    allowUnconditionalUpdate: false,
    createOnUpdate: true,
    ...(conversion && { conversion }),
    doc: "A candidate for the holder of a lease in coordinated leader election.",
    fields: {
      metadata: field(1, ObjectMeta, "Metadata of the candidate.").emitEmpty(),
      spec: candidate.emitEmpty(),
    },
    later: () => ({ spec: replacedIn("1.36", candidate.declaredRequired()) }),
    validate({ metadata, spec: input }, report) {
      const { name = "" } = metadata;
      for (const message of name === "" ? [] : configMapKeyFaults(name)) {
        report.at("metadata", "name").invalid(name, message);
      }
      const empty = { leaseName: "", binaryVersion: "", strategy: "" };
      checkCandidate(input ?? empty, report.at("spec"));
    },
    validateUpdate({ spec: now }, live, report) {
      unchanged(now?.leaseName ?? "", live.spec?.leaseName ?? "", report.at("spec", "leaseName"));
    },
    columns: [
      nameColumn,
      {
        name: "LeaseName",
        type: "string",
        doc: "Name of the lease.",
        cell: ({ spec: input }) => input?.leaseName ?? "",
      },
      {
        name: "BinaryVersion",
        type: "string",
        doc: "Version of the candidate.",
        cell: ({ spec: input }) => input?.binaryVersion ?? "",
      },
      {
        name: "EmulationVersion",
        type: "string",
        doc: "Version that the candidate emulates.",
        cell: ({ spec: input }) => input?.emulationVersion ?? "",
      },
      ageColumn,
    ],
  });
}

function checkCandidate(spec: CandidateSpec, report: FieldReport): void {
  const { leaseName, binaryVersion, emulationVersion = "", strategy } = spec;
  if (leaseName === "") report.at("leaseName").required();
  const emulated = versionOf(emulationVersion, report.at("emulationVersion"));
  if (binaryVersion === "") report.at("binaryVersion").required();
  const binary = versionOf(binaryVersion, report.at("binaryVersion"));
  if (binaryVersion !== "" && emulationVersion !== "" && compareVersions(binary, emulated) < 0) {
    report.at("binaryVersion").invalid(binaryVersion, "must be greater than or equal to `emulationVersion`");
  }
  if (strategy === "") return report.at("strategy").required();
  if (strategy === oldestEmulationVersion && compareVersions(emulated, zeroVersion) === 0) {
    report.at("emulationVersion").required("must be specified when `strategy` is 'OldestEmulationVersion'");
  }
  checkStrategy(strategy, report.at("strategy"));
}

const zeroVersion = new Semver([0n, 0n, 0n], []);

/** Returns the version; 0.0.0 for none, or after it was reported as invalid. */
function versionOf(text: string, report: FieldReport): Semver {
  if (text === "") return zeroVersion;
  const version = parseSemver(text, false);
  if (version instanceof Semver) return version;
  report.invalid(text, "must be a valid semantic version");
  return zeroVersion;
}

/** Release 1.33 and later; the stored version. */
export const LeaseCandidateV1beta1 = declareLeaseCandidate(v1beta1);
export type LeaseCandidateV1beta1 = ObjectFor<typeof LeaseCandidateV1beta1>;

/** Release 1.32 and later. */
export const LeaseCandidateV1alpha2 = declareLeaseCandidate(
  v1alpha2,
  sameFields(() => LeaseCandidateV1beta1),
);
export type LeaseCandidateV1alpha2 = ObjectFor<typeof LeaseCandidateV1alpha2>;
