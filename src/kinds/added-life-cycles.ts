import {
  admissionregistration,
  authentication,
  certificates,
  coordination,
  flowcontrol,
  networking,
  resource,
  storage,
  storagemigration,
} from "./groups.ts";
import { at, kinds, type LifeCycle } from "./life-cycle.ts";

const deviceKinds = ["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"];
const taintRule = "DeviceTaintRule";
const migration = "StorageVersionMigration";
const mutating = ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"];

/** The versions that releases after the reference release introduced. */
export const laterLifeCycles: readonly LifeCycle[] = [
  ...kinds(
    admissionregistration,
    "v1beta1",
    { introduced: "1.28", deprecated: "1.31", removed: "1.34", replacement: at(admissionregistration, "v1") },
    ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
  ),
  ...kinds(admissionregistration, "v1", { introduced: "1.30" }, [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ]),
  ...kinds(
    admissionregistration,
    "v1alpha1",
    { introduced: "1.32", deprecated: "1.35", removed: "1.38" },
    mutating,
  ),
  ...kinds(
    admissionregistration,
    "v1beta1",
    { introduced: "1.34", deprecated: "1.37", removed: "1.40", replacement: at(admissionregistration, "v1") },
    mutating,
  ),
  ...kinds(admissionregistration, "v1", { introduced: "1.36" }, mutating),
  ...kinds(authentication, "v1", { introduced: "1.28" }, ["SelfSubjectReview"]),
  ...kinds(authentication, "v1beta1", { introduced: "1.27", deprecated: "1.30", removed: "1.33" }, [
    "SelfSubjectReview",
  ]),
  ...kinds(certificates, "v1alpha1", { introduced: "1.27", deprecated: "1.34", removed: "1.37" }, [
    "ClusterTrustBundle",
  ]),
  ...kinds(certificates, "v1alpha1", { introduced: "1.34", removed: "1.35" }, ["PodCertificateRequest"]),
  ...kinds(
    certificates,
    "v1beta1",
    { introduced: "1.33", deprecated: "1.37", removed: "1.40", replacement: at(certificates, "v1") },
    ["ClusterTrustBundle"],
  ),
  ...kinds(
    certificates,
    "v1beta1",
    { introduced: "1.35", deprecated: "1.37", removed: "1.40", replacement: at(certificates, "v1") },
    ["PodCertificateRequest"],
  ),
  ...kinds(certificates, "v1", { introduced: "1.37" }, ["ClusterTrustBundle", "PodCertificateRequest"]),
  ...kinds(coordination, "v1alpha2", { introduced: "1.32", deprecated: "1.35", removed: "1.38" }, [
    "LeaseCandidate",
  ]),
  ...kinds(coordination, "v1beta1", { introduced: "1.33", deprecated: "1.36", removed: "1.39" }, [
    "LeaseCandidate",
  ]),
  ...kinds(flowcontrol, "v1", { introduced: "1.29" }, ["FlowSchema", "PriorityLevelConfiguration"]),
  ...kinds(networking, "v1alpha1", { introduced: "1.27", deprecated: "1.30", removed: "1.33" }, [
    "IPAddress",
  ]),
  ...kinds(networking, "v1alpha1", { introduced: "1.29", deprecated: "1.30", removed: "1.33" }, [
    "ServiceCIDR",
  ]),
  ...kinds(networking, "v1beta1", { introduced: "1.31", deprecated: "1.34", removed: "1.37" }, [
    "IPAddress",
    "ServiceCIDR",
  ]),
  ...kinds(networking, "v1", { introduced: "1.33" }, ["IPAddress", "ServiceCIDR"]),
  ...kinds(resource, "v1alpha3", { introduced: "1.33", deprecated: "1.36", removed: "1.39" }, [taintRule]),
  ...kinds(resource, "v1beta2", { introduced: "1.36", deprecated: "1.39", removed: "1.42" }, [taintRule]),
  ...kinds(resource, "v1", { introduced: "1.37" }, [taintRule]),
  ...kinds(resource, "v1alpha3", { introduced: "1.36", deprecated: "1.39", removed: "1.42" }, [
    "ResourcePoolStatusRequest",
  ]),
  ...kinds(resource, "v1beta1", { introduced: "1.32", deprecated: "1.35", removed: "1.38" }, deviceKinds),
  ...kinds(resource, "v1beta2", { introduced: "1.33", deprecated: "1.36", removed: "1.39" }, deviceKinds),
  ...kinds(resource, "v1", { introduced: "1.34" }, deviceKinds),
  ...kinds(
    storage,
    "v1alpha1",
    { introduced: "1.29", deprecated: "1.32", removed: "1.35", replacement: at(storage, "v1") },
    ["VolumeAttributesClass"],
  ),
  ...kinds(
    storage,
    "v1beta1",
    { introduced: "1.31", deprecated: "1.34", removed: "1.37", replacement: at(storage, "v1") },
    ["VolumeAttributesClass"],
  ),
  ...kinds(storage, "v1", { introduced: "1.34" }, ["VolumeAttributesClass"]),
  ...kinds(storagemigration, "v1alpha1", { introduced: "1.30", deprecated: "1.33", removed: "1.35" }, [
    migration,
  ]),
  ...kinds(
    storagemigration,
    "v1beta1",
    { introduced: "1.35", deprecated: "1.37", removed: "1.40", replacement: at(storagemigration, "v1") },
    [migration],
  ),
  ...kinds(storagemigration, "v1", { introduced: "1.37" }, [migration]),
];
