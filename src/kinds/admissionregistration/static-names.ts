import { apiGroup } from "../../vocabulary/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectMetaValue } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Returns the suffix of the names of objects that are configured in files. */
export function staticSuffix({ groupSuffix }: Vocabulary): string {
  return `.${apiGroup(groupSuffix, "static")}`;
}

/** Rejects a name that is reserved for configurations of admission in files (release 1.37 on): `….static.k8s.io`. */
export function checkNotStatic(
  { metadata }: { readonly metadata: ObjectMetaValue },
  report: FieldReport,
  { enabled, vocabulary }: KindContext,
): void {
  if (!enabled("ManifestBasedAdmissionControlConfig")) return;
  const { name = "" } = metadata;
  const suffix = staticSuffix(vocabulary);
  if (name.endsWith(suffix))
    report
      .at("metadata", "name")
      .invalid(name, `names that end with ${suffix} are reserved for admission configured in files`);
}
