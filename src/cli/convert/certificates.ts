import { certificates } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, isGiven, keepDefault, type Rule, type VersionChange } from "./notes.ts";

/** The older version chose a signer by the request, and had one for everything that it didn't know. */
const signer: Rule = (part) => {
  const given = part.value["signerName"];
  if (!isGiven(given)) {
    part.unresolved("signerName", "the older version chose a signer by itself; say which one is meant");
  } else if (given === `${part.vocabulary.domain}/legacy-unknown`) {
    part.unresolved("signerName", `the new version has no signer ${JSON.stringify(given)}; name another one`);
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
