import { ClusterRole } from "../../kinds/rbac/roles.ts";
import { keyOf, resourceOf } from "../../resources/registry/registry.ts";
import { StoreStampError, type RequestedStamp } from "../../storage/stamp.ts";
import { vocabularies } from "../../vocabulary/vocabularies.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { OptionsError } from "../options/options-error.ts";
import type { StorageSettings } from "../options/types.ts";

/** Version of the form in which objects are stored. */
const objectFormat = 1;

/**
 * The stamp of a server's store: its vocabulary, and the form of the objects. What a store of before was used for is told
 * by the role that each server makes, and keeps, in a group of its vocabulary: a client of another one can't make that.
 */
export function stampOf({ name }: Vocabulary): RequestedStamp {
  const telltales = vocabularies.map((one): [string, string] => [
    keyOf(resourceOf(ClusterRole, one), "", "cluster-admin"),
    one.name,
  ]);
  return { label: name, format: objectFormat, telltales: new Map(telltales) };
}

/** A store that is used for something else, as people are told: by the flags. */
export function stampError({ labels, format }: StoreStampError, storage: StorageSettings): OptionsError {
  const [place, flag] =
    storage.engine === "etcd"
      ? [`the store under ${storage.prefix} in etcd`, "--etcd-prefix"]
      : [`the store in ${storage.engine === "embedded" ? storage.dir : "memory"}`, "--data-dir"];
  const otherwise = `or choose another ${flag}`;
  if (labels.length > 1) {
    const all = labels.join(" and ");
    return new OptionsError(
      `${place} has objects of the vocabularies ${all} and no mark of the one that it belongs to: choose another ${flag}`,
    );
  }
  if (format !== undefined && format > objectFormat) {
    return new OptionsError(
      `${place} has format ${format}, this program knows ${objectFormat}: use the program version that wrote it, ${otherwise}`,
    );
  }
  return new OptionsError(
    `${place} belongs to the vocabulary ${labels[0]}: start with --vocabulary=${labels[0]}, ${otherwise}`,
  );
}
