import { describe, expect, it } from "vitest";
import { ValidatingWebhookConfiguration } from "../../src/kinds/admissionregistration/validating-webhook-configuration.ts";
import { PersistentVolumeClaim } from "../../src/kinds/core/persistent-volume-claim.ts";
import { NetworkPolicy } from "../../src/kinds/networking/network-policy.ts";
import { PriorityClass } from "../../src/kinds/scheduling/priority-class.ts";
import { StorageClass } from "../../src/kinds/storage/storage-class.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { judgeNew } from "./support.ts";

const webhook = (members: object) => ({ webhooks: [{ name: "a.example.com", ...members }] });

// In a nullable enum field, null means absent, and the empty string is an unsupported value.
describe("an empty string in an enum field", () => {
  it.each<[string, Kind, object]>([
    ["volumeBindingMode", StorageClass, { provisioner: "a/b", volumeBindingMode: "" }],
    ["spec.volumeMode", PersistentVolumeClaim, { spec: { volumeMode: "" } }],
    [
      "spec.ingress[0].ports[0].protocol",
      NetworkPolicy,
      { spec: { ingress: [{ ports: [{ protocol: "" }] }] } },
    ],
    ["webhooks[0].failurePolicy", ValidatingWebhookConfiguration, webhook({ failurePolicy: "" })],
    ["webhooks[0].matchPolicy", ValidatingWebhookConfiguration, webhook({ matchPolicy: "" })],
    ["webhooks[0].rules[0].scope", ValidatingWebhookConfiguration, webhook({ rules: [{ scope: "" }] })],
  ])("is rejected with NotSupported in the nullable field %s", (path, kind, value) => {
    expect(judgeNew(kind, value).faults).toContain(`${path}: FieldValueNotSupported`);
  });

  it("is rejected with NotSupported in the required field sideEffects, and an absent value with Required", () => {
    const faultsOf = (sideEffects: string | undefined) =>
      judgeNew(ValidatingWebhookConfiguration, webhook({ sideEffects })).faults.filter((fault) =>
        fault.includes("sideEffects"),
      );
    expect(faultsOf("")).toEqual(["webhooks[0].sideEffects: FieldValueNotSupported"]);
    expect(faultsOf(undefined)).toEqual(["webhooks[0].sideEffects: FieldValueRequired"]);
  });

  it("gets the default in StorageClass reclaimPolicy, and is rejected with Required in PriorityClass preemptionPolicy", () => {
    expect(judgeNew(StorageClass, { provisioner: "a/b", reclaimPolicy: "" }).faults).toEqual([]);
    expect(judgeNew(PriorityClass, { value: 1, preemptionPolicy: "" }).faults).toEqual([
      "preemptionPolicy: FieldValueRequired",
    ]);
  });
});
