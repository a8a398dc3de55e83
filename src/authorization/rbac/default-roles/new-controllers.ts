import { gate, type Row, since } from "../../../base/release-rows.ts";
import type { Release } from "../../../base/releases.ts";
import type { Rule } from "../policy.ts";
import { allow, read, recordEvents, type PolicyNames } from "./declare.ts";
import type { RoleChange } from "./role-change.ts";

/** Returns the roles of controllers that came after the reference release, bound to their service accounts. */
export function newControllers(names: PolicyNames): Row<RoleChange>[] {
  return [
    ...clusterControllers(names),
    ...volumeControllers(names),
    ...deviceControllers(names),
    ...certificateControllers(names),
  ];
}

/** Returns the role of a controller in releases in which a feature gate is enabled. */
function controller(
  { prefix, account }: PolicyNames,
  release: Release,
  feature: string,
  name: string,
  ...added: Rule[]
): Row<RoleChange> {
  return since(
    release,
    gate(feature, { role: `${prefix}controller:${name}`, added, subjects: [account(name)] }),
  );
}

function clusterControllers(names: PolicyNames): Row<RoleChange>[] {
  const { core, registration, networking, extensionsApi, migration, apiServer } = names;
  const record = recordEvents(names);
  return [
    controller(
      names,
      "1.28",
      "ValidatingAdmissionPolicy",
      "validatingadmissionpolicy-status-controller",
      allow(read, registration, "validatingadmissionpolicies"),
      allow("get patch update", registration, "validatingadmissionpolicies/status"),
      record,
    ),
    controller(
      names,
      "1.29",
      "LegacyServiceAccountTokenCleanUp",
      "legacy-service-account-token-cleaner",
      allow("delete patch", core, "secrets"),
      allow("get", core, "configmaps", [`${apiServer}-legacy-service-account-token-tracking`]),
    ),
    controller(
      names,
      "1.29",
      "MultiCIDRServiceAllocator",
      "service-cidrs-controller",
      allow(`${read} patch update`, networking, "servicecidrs"),
      allow("patch update", networking, "servicecidrs/finalizers servicecidrs/status"),
      allow(read, networking, "ipaddresses"),
      record,
    ),
    controller(
      names,
      "1.30",
      "StorageVersionMigrator",
      "storage-version-migrator-controller",
      allow("list patch", "*", "*"),
      allow("get", extensionsApi, "customresourcedefinitions"),
      allow("patch", extensionsApi, "customresourcedefinitions/status"),
      allow("update", migration, "storageversionmigrations/status"),
    ),
  ];
}

function volumeControllers(names: PolicyNames): Row<RoleChange>[] {
  const { core, storage } = names;
  const record = recordEvents(names);
  return [
    controller(
      names,
      "1.32",
      "SELinuxChangePolicy",
      "selinux-warning-controller",
      allow(read, core, "persistentvolumes persistentvolumeclaims pods"),
      allow(read, storage, "csidrivers"),
      record,
    ),
    controller(
      names,
      "1.32",
      "VolumeAttributesClass",
      "volumeattributesclass-protection-controller",
      allow(read, core, "persistentvolumes persistentvolumeclaims"),
      allow(`${read} update`, storage, "volumeattributesclasses"),
      record,
    ),
  ];
}

function deviceControllers(names: PolicyNames): Row<RoleChange>[] {
  const { prefix, core, resource } = names;
  const claims = "resource-claim-controller";
  const taints = "device-taint-eviction-controller";
  const pools = "resourcepoolstatusrequest-controller";
  const record = recordEvents(names);
  return [
    controller(
      names,
      "1.36",
      "DRAResourcePoolStatus",
      pools,
      allow(`${read} delete`, resource, "resourcepoolstatusrequests"),
      allow("patch update", resource, "resourcepoolstatusrequests/status"),
      allow(read, resource, "resourceclaims resourceslices"),
      record,
    ),
    since(
      "1.37",
      gate("DRAResourcePoolStatus", {
        role: `${prefix}controller:${pools}`,
        added: [allow(read, resource, "devicetaintrules")],
      }),
    ),
    controller(
      names,
      "1.32",
      "DynamicResourceAllocation",
      claims,
      allow(read, core, "pods"),
      allow("update", core, "pods/finalizers"),
      allow("patch update", core, "pods/status"),
      allow(`${read} create delete patch update`, resource, "resourceclaims"),
      allow("patch update", resource, "resourceclaims/status"),
      record,
    ),
    controller(
      names,
      "1.33",
      "DRADeviceTaints",
      taints,
      allow(`${read} delete`, core, "pods"),
      allow("patch update", core, "pods/status"),
      allow(read, resource, "deviceclasses resourceclaims resourceslices"),
      record,
    ),
    since(
      "1.36",
      gate("DRAResourceClaimGranularStatusAuthorization", {
        role: `${prefix}controller:${claims}`,
        added: [allow("patch update", resource, "resourceclaims/binding")],
      }),
    ),
    since(
      "1.37",
      gate("DRADeviceTaintRules", {
        role: `${prefix}controller:${taints}`,
        added: [
          allow(read, resource, "devicetaintrules"),
          allow("patch update", resource, "devicetaintrules/status"),
        ],
      }),
    ),
  ];
}

function certificateControllers(names: PolicyNames): Row<RoleChange>[] {
  const { certificates, apiServer, signer } = names;
  return [
    controller(
      names,
      "1.32",
      "ClusterTrustBundle",
      `${apiServer}-serving-clustertrustbundle-publisher`,
      allow("attest", certificates, "signers", [signer(`${apiServer}-serving`)]),
      allow("create delete list update watch", certificates, "clustertrustbundles"),
      recordEvents(names),
    ),
    controller(
      names,
      "1.34",
      "PodCertificateRequest",
      "podcertificaterequestcleaner",
      allow(`${read} delete`, certificates, "podcertificaterequests"),
    ),
  ];
}
