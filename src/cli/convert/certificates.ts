import { labelKey } from "../../vocabulary/names.ts";
import { certificates } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, isSet, keepDefault, type Rule, type VersionChange } from "./notes.ts";

/** The older version derived the signer from the request, and had one for unknown requests. */
const signer: Rule = (part) => {
  const name = part.value["signerName"];
  if (!isSet(name)) {
    part.unresolved("signerName", "the older version chose a signer by itself; set the one to use");
  } else if (name === labelKey(part.vocabulary.domain, "legacy-unknown")) {
    part.unresolved("signerName", `the new version has no signer ${JSON.stringify(name)}; set another one`);
  }
};

export const certificatesChanges: readonly VersionChange[] = [
  change(
    groupVersion(certificates, "v1beta1"),
    groupVersion(certificates, "v1"),
    ["CertificateSigningRequest"],
    at("spec", keepDefault("usages", ["digital signature", "key encipherment"], undefined), signer),
    at("status.conditions[]", keepDefault("status", "True", undefined)),
  ),
];
