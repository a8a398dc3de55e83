import { struct } from "../v1.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { field, string } from "../../../schema/types.ts";

/** Maximum length of a profile's name in characters. */
const maxProfileLength = 4095;

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string | null | undefined;
}

/** Requires the name of the profile for Localhost, and rejects it for other types. */
function checkProfile({ type, localhostProfile }: Profile, report: FieldReport): void {
  const at = report.at("localhostProfile");
  if (type === "Localhost") {
    if (localhostProfile === undefined || localhostProfile === null || localhostProfile === "") {
      at.required("when the type is Localhost");
      return;
    }
    if (localhostProfile !== localhostProfile.trim()) {
      at.invalid(localhostProfile, "must not have leading or trailing whitespace");
    }
    if (localhostProfile.length > maxProfileLength) at.tooLong(maxProfileLength, "characters");
  } else if (localhostProfile !== undefined && localhostProfile !== null) {
    at.invalid(localhostProfile, "may only be set when the type is Localhost");
  }
}

export const AppArmorProfile = struct(
  "AppArmorProfile",
  "The AppArmor profile of a pod or container.",
  {
    type: field(1, string, "Type of the profile: RuntimeDefault, Localhost or Unconfined.")
      .required()
      .oneOf("Localhost", "RuntimeDefault", "Unconfined"),
    localhostProfile: field(
      2,
      string,
      "Name of a profile loaded on the node; only for the type Localhost.",
    ).nullable(),
  },
  { check: checkProfile },
);
