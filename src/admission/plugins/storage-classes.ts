import { andThen } from "../../base/maybe-promise.ts";
import { PersistentVolumeClaim } from "../../kinds/core/persistent-volume-claim.ts";
import { StorageClass } from "../../kinds/storage/storage-class.ts";
import { parseQuantity } from "../../base/quantity.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { concernsOnly } from "../admitted-types.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { AdmissionFacts, FollowedObjects } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";

/** What plugins know of a storage class. */
interface ClassFacts {
  readonly name: string;
  readonly isDefault: boolean;
  readonly allowsExpansion: boolean;
}

function storageClasses(facts: AdmissionFacts, { domain }: Vocabulary): FollowedObjects<ClassFacts> {
  const marks = [`storageclass.${domain}/is-default-class`, `storageclass.beta.${domain}/is-default-class`];
  return facts.of(StorageClass, (object) => {
    const { metadata, allowVolumeExpansion } = object as unknown as StorageClass;
    return {
      name: metadata.name!,
      isDefault: marks.some((mark) => metadata.annotations?.[mark] === "true"),
      allowsExpansion: allowVolumeExpansion === true,
    };
  });
}

/**
 * DefaultStorageClass: a new claim that names no class gets the default one; none when there is no default; is rejected when
 * there are several (spec: conventions 4.13, rulings: several default classes).
 */
export function defaultStorageClass(facts: AdmissionFacts, vocabulary: Vocabulary): AdmissionPlugin {
  const classes = storageClasses(facts, vocabulary);
  const annotation = `volume.beta.${vocabulary.domain}/storage-class`;
  return {
    name: "DefaultStorageClass",
    concerns: concernsOnly([PersistentVolumeClaim], "CREATE"),
    mutate({ object, target }) {
      const claim = object as unknown as PersistentVolumeClaim;
      if (claim.spec?.storageClassName !== undefined) return;
      if (claim.metadata.annotations?.[annotation] !== undefined) return;
      return andThen(classes.in(""), (all) => {
        const defaults = all.filter(({ isDefault }) => isDefault);
        if (defaults.length > 1) {
          throw forbidden(
            target,
            `Internal error occurred: ${defaults.length} default StorageClasses were found`,
          );
        }
        const [found] = defaults;
        if (found !== undefined) claim.spec = { ...claim.spec, storageClassName: found.name };
      });
    },
  };
}

/**
 * PersistentVolumeClaimResize: a claim grows only when it is bound and its storage class has `allowVolumeExpansion: true`
 * (spec: conventions 4.13).
 */
export function persistentVolumeClaimResize(facts: AdmissionFacts, vocabulary: Vocabulary): AdmissionPlugin {
  const classes = storageClasses(facts, vocabulary);
  const annotation = `volume.beta.${vocabulary.domain}/storage-class`;
  const classOf = (claim: PersistentVolumeClaim): string =>
    claim.metadata.annotations?.[annotation] ?? claim.spec?.storageClassName ?? "";
  return {
    name: "PersistentVolumeClaimResize",
    concerns: concernsOnly([PersistentVolumeClaim], "UPDATE"),
    validate({ object, live, target }) {
      const claim = object as unknown as PersistentVolumeClaim;
      const before = live as unknown as PersistentVolumeClaim;
      if (sizeOf(claim) <= sizeOf(before)) return;
      if (before.status?.phase !== "Bound") {
        throw forbidden(target, "Only bound persistent volume claims can be expanded");
      }
      const name = classOf(claim);
      return andThen(name === "" ? undefined : classes.get("", name), (found) => {
        if (found?.allowsExpansion === true && classOf(before) === name) return;
        throw forbidden(
          target,
          "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
        );
      });
    },
  };
}

/** The size that a claim asks for, in billionths of a byte. */
function sizeOf({ spec }: PersistentVolumeClaim): bigint {
  return parseQuantity(spec?.resources?.requests?.["storage"] ?? "0").nanos;
}
