import { describe, expect, test } from "vitest";
import { builtInKinds } from "../../../src/kinds/all.ts";
import { ignoredFields } from "../../../src/resources/ownership/field-ownership.ts";
import { mergePart } from "../../../src/resources/input/part.ts";
import { resourceOf } from "../../../src/resources/registry/registry.ts";
import type { ApiObject, ObjectMetaValue, PartSubresource } from "../../../src/schema/kind.ts";
import { platform } from "../../../src/vocabulary/platform.ts";

const context = { vocabulary: platform, enabled: () => true, subresource: "" };
const members = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

const metadataOf = (word: string): ObjectMetaValue => ({
  name: "one",
  uid: "uid-1",
  creationTimestamp: "2026-01-01T00:00:00Z",
  labels: { word },
  annotations: { word },
  finalizers: [`example.com/${word}`],
  ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: word, uid: word }],
});

const parts = builtInKinds.flatMap((kind) =>
  Object.entries(kind.subresources).flatMap(([name, subresource]) =>
    subresource.shape === undefined
      ? [
          {
            place: `${kind.group.base || "core"}/${kind.version} ${kind.resource}/${name}`,
            kind,
            name,
            subresource,
          },
        ]
      : [],
  ),
);

/** The members of metadata that a write to a part leaves as they are. */
function keptBy(part: PartSubresource, apiVersion: string, kind: string): string[] {
  const object = (word: string): ApiObject => ({
    apiVersion,
    kind,
    metadata: metadataOf(word),
    spec: {},
    status: {},
  });
  const { metadata } = mergePart(part, object("written"), object("live"), context);
  return members.filter((name) => JSON.stringify(metadata[name]).includes("live"));
}

describe("metadata of a write to a part of an object", () => {
  test("comes from the request except for the members that the kind declares as kept", () => {
    const kept = parts.flatMap(({ place, kind, subresource }) => {
      const names = keptBy(subresource, "v1", kind.name);
      return names.length === 0 ? [] : [[place, names.length === members.length ? "all" : names.join()]];
    });
    expect(Object.fromEntries(kept)).toEqual({
      "apiregistration/v1 apiservices/status": "all",
      "apps/v1 deployments/status": "labels",
      "core/v1 pods/ephemeralcontainers": "all",
      "core/v1 pods/status": "ownerReferences",
      "flowcontrol.apiserver/v1beta2 flowschemas/status": "all",
      "flowcontrol.apiserver/v1beta2 prioritylevelconfigurations/status": "all",
      "flowcontrol.apiserver/v1beta3 flowschemas/status": "all",
      "flowcontrol.apiserver/v1beta3 prioritylevelconfigurations/status": "all",
      "internal.apiserver/v1alpha1 storageversions/status": "all",
      "storage/v1 volumeattachments/status": "all",
    });
  });

  test.each(parts)(
    "$place: kept members have no field manager, and the others have one",
    ({ kind, name, subresource }) => {
      const resource = resourceOf(kind, platform);
      const ignored = ignoredFields({ resource, namespace: "", name: "one", subresource: name }).below(
        "f:metadata",
      );
      const kept = keptBy(subresource, "v1", kind.name);
      for (const member of members) {
        const isIgnored = ignored.isMember || ignored.below(`f:${member}`).isMember;
        expect([member, isIgnored]).toEqual([member, kept.includes(member)]);
      }
    },
  );
});
