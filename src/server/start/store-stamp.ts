import { ClusterRole } from "../../kinds/rbac/roles.ts";
import { keyOf, resourceOf } from "../../resources/registry/registry.ts";
import { StoreStampError, type RequestedStamp } from "../../storage/stamp.ts";
import { vocabularies } from "../../vocabulary/vocabularies.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { OptionsError } from "../options/options-error.ts";
import type { StorageSettings } from "../options/settings-types.ts";

/** Version of the format of stored objects. */
export const storeFormat = 1;

/**
 * Returns the stamp of a server's store: its vocabulary and object format. A store without a stamp belongs to the
 * vocabulary whose ClusterRole `cluster-admin` it contains: every server creates it, and clients of another
 * vocabulary can't.
 */
export function stampOf({ name }: Vocabulary): RequestedStamp {
  const telltales = vocabularies.map((one): [string, string] => [
    keyOf(resourceOf(ClusterRole, one), "", "cluster-admin"),
    one.name,
  ]);
  return { label: name, format: storeFormat, telltales: new Map(telltales) };
}

/** Returns a description of a store, and the flag that chooses another one. */
function placeOf(storage: StorageSettings): readonly [store: string, flag: string] {
  switch (storage.engine) {
    case "etcd":
      return [`the store under ${storage.prefix} in etcd`, "--etcd-prefix"];
    case "postgres":
      return [`the store in the schema ${storage.schema} of the database`, "--postgres-schema"];
    case "embedded":
      return [`the store in ${storage.dir}`, "--data-dir"];
    case "memory":
      return ["the store in memory", "--data-dir"];
  }
}

/** Returns the error for a store of another vocabulary or a newer format; the message names the flags to change. */
export function stampError({ labels, format }: StoreStampError, storage: StorageSettings): OptionsError {
  const [store, flag] = placeOf(storage);
  const otherwise = `or choose another ${flag}`;
  if (labels.length > 1) {
    const all = labels.join(" and ");
    return new OptionsError(
      `${store} has objects of the vocabularies ${all} and no mark of the one that it belongs to: choose another ${flag}`,
    );
  }
  if (format !== undefined && format > storeFormat) {
    return new OptionsError(
      `${store} has format ${format}, this program supports up to ${storeFormat}: use the program version that wrote it, ${otherwise}`,
    );
  }
  const conversion = storage.engine === "embedded" ? "convert it with plinth convert, " : "";
  return new OptionsError(
    `${store} belongs to the vocabulary ${labels[0]}: start with --vocabulary=${labels[0]}, ${conversion}${otherwise}`,
  );
}
