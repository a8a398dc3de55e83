import { objectAs } from "../../schema/api-object.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { PersistentVolumeClaim } from "../../kinds/core/persistent-volume-claim.ts";
import { StorageClass } from "../../kinds/storage/storage-class.ts";
import { parseQuantity } from "../../base/quantity.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly, type AdmissionPlugin } from "../admission-chain.ts";
import { defaultClassFacts, defaultClassOf, type DefaultClassFacts } from "../default-class.ts";
import type { AdmissionFacts, FollowedObjects } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";

/** The attributes of a storage class that plugins read. */
interface ClassFacts extends DefaultClassFacts {
  readonly allowsExpansion: boolean;
}

function storageClasses(facts: AdmissionFacts, { domain }: Vocabulary): FollowedObjects<ClassFacts> {
  const marks = [
    labelKey(domain, "is-default-class", "storageclass"),
    labelKey(domain, "is-default-class", "storageclass.beta"),
  ];
  return facts.of(StorageClass, (object) => ({
    ...defaultClassFacts(object, marks),
    allowsExpansion: objectAs<StorageClass>(object).allowVolumeExpansion === true,
  }));
}

/**
 * DefaultStorageClass: a new claim without a class gets the default class, if there is one (spec: conventions 4.13). Several
 * default classes: see {@link defaultClassOf}.
 */
export function defaultStorageClass(facts: AdmissionFacts, vocabulary: Vocabulary): AdmissionPlugin {
  const classes = storageClasses(facts, vocabulary);
  const annotation = labelKey(vocabulary.domain, "storage-class", "volume.beta");
  return {
    name: "DefaultStorageClass",
    concerns: concernsOnly([PersistentVolumeClaim], "CREATE"),
    mutate({ object, target }) {
      const claim = objectAs<PersistentVolumeClaim>(object!);
      const namesClass =
        claim.spec?.storageClassName !== undefined || claim.metadata.annotations?.[annotation] !== undefined;
      return andThen(classes.in(""), (all) => {
        const byDefault = defaultClassOf(all, target, "StorageClass", vocabulary.behavior);
        if (namesClass || byDefault === undefined) return;
        claim.spec = { ...claim.spec, storageClassName: byDefault.name };
      });
    },
  };
}

/**
 * PersistentVolumeClaimResize: a claim may grow only if it is bound and its storage class has `allowVolumeExpansion: true` (spec:
 * conventions 4.13).
 */
export function persistentVolumeClaimResize(facts: AdmissionFacts, vocabulary: Vocabulary): AdmissionPlugin {
  const classes = storageClasses(facts, vocabulary);
  const annotation = labelKey(vocabulary.domain, "storage-class", "volume.beta");
  const classOf = (claim: PersistentVolumeClaim): string =>
    claim.metadata.annotations?.[annotation] ?? claim.spec?.storageClassName ?? "";
  return {
    name: "PersistentVolumeClaimResize",
    concerns: concernsOnly([PersistentVolumeClaim], "UPDATE"),
    validate({ object, live, target }) {
      const claim = objectAs<PersistentVolumeClaim>(object!);
      const before = objectAs<PersistentVolumeClaim>(live!);
      if (sizeOf(claim) <= sizeOf(before)) return;
      if (before.status?.phase !== "Bound") {
        throw forbidden(target, "Only bound persistent volume claims can be expanded");
      }
      const name = classOf(claim);
      return andThen(name === "" ? undefined : classes.get("", name), (storageClass) => {
        if (storageClass?.allowsExpansion === true && classOf(before) === name) return;
        throw forbidden(
          target,
          "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
        );
      });
    },
  };
}

/** The requested size of a claim, in billionths of a byte. */
function sizeOf({ spec }: PersistentVolumeClaim): bigint {
  return parseQuantity(spec?.resources?.requests?.["storage"] ?? "0").nanos;
}
