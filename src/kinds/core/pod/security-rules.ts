import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { descendingPath } from "../../checks/paths.ts";

interface SeccompProfile {
  readonly type: string;
  readonly localhostProfile?: string | undefined;
}

/** Requires a file name for the type Localhost, and rejects it for others. */
export function checkSeccompProfile(profile: SeccompProfile, report: FieldReport): void {
  const { type, localhostProfile } = profile;
  const at = report.at("localhostProfile");
  if (type === "Localhost") {
    if (localhostProfile === undefined) at.required("must be set when the type is Localhost");
    else descendingPath(localhostProfile, at);
  } else if (localhostProfile !== undefined) {
    at.invalid(localhostProfile, "can only be set when the type is Localhost");
  }
}

interface Rights {
  readonly allowPrivilegeEscalation?: boolean | undefined;
  readonly privileged?: boolean | undefined;
  readonly capabilities?: { readonly add?: readonly string[] | undefined } | undefined;
}

/** Rejects `allowPrivilegeEscalation: false` for privileged containers and those with CAP_SYS_ADMIN. */
export function checkEscalation(context: Rights, report: FieldReport): void {
  if (context.allowPrivilegeEscalation !== false) return;
  if (context.privileged === true) {
    report.invalid(context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  if (context.capabilities?.add?.includes("CAP_SYS_ADMIN") === true) {
    report.invalid(
      context,
      "cannot set `allowPrivilegeEscalation` to false and `capabilities.add` CAP_SYS_ADMIN",
    );
  }
}

/** Rejects privileged containers if the server doesn't allow them. Status writes of existing pods aren't checked. */
export function checkPrivileged(privileged: boolean, report: FieldReport, context: KindContext): void {
  if (!privileged || context.forbidsPrivileged !== true || context.subresource === "status") return;
  report.forbidden("disallowed by cluster policy");
}

const sysctlForm = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const maxSysctlLength = 253;

/** Requires valid and unique names of sysctls. */
export function sysctls(list: readonly { readonly name: string }[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, { name }] of list.entries()) {
    if (report.full) return;
    if (name === "") continue;
    const at = report.at(index, "name");
    if (name.length > maxSysctlLength || !sysctlForm.test(name)) {
      at.invalid(
        name,
        `has at most ${maxSysctlLength} characters: lower case words, separated by dots or slashes`,
      );
    } else if (seen.has(name)) at.duplicate(name);
    seen.add(name);
  }
}

const maxCredentialSpec = 64 * 1024;

/** Limits the size of a credential spec. */
export function credentialSpec(text: string, report: FieldReport): void {
  if (Buffer.byteLength(text) > maxCredentialSpec) report.invalid(text, "must be smaller than 64 KiB");
}

/** Rejects an empty text. */
export function notEmptyText(text: string | undefined, report: FieldReport): void {
  if (text === "") report.invalid(text, "cannot be an empty string");
}

const maxDomainLength = 256;
const maxUserLength = 104;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const controlCharacter = /[\u0000-\u001f\u007f]/;
const netbiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsDomain =
  /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** Requires a Windows user name, with or without a domain: `DOMAIN\\user`. */
export function windowsUser(name: string, report: FieldReport): void {
  if (controlCharacter.test(name)) return report.invalid(name, "cannot contain control characters");
  const parts = name.split("\\");
  if (parts.length > 2) return report.invalid(name, "can have at most one backslash");
  const user = parts.at(-1)!;
  if (parts.length === 2) {
    const domain = parts[0]!;
    if (domain.length >= maxDomainLength) {
      report.invalid(name, `the domain must be shorter than ${maxDomainLength} characters`);
    } else if (!netbiosDomain.test(domain) && !dnsDomain.test(domain)) {
      report.invalid(name, "the domain is neither a NetBIOS nor a DNS name");
    }
  }
  if (user === "") report.invalid(name, "the user cannot be empty");
  else if (user.length > maxUserLength) {
    report.invalid(name, `the user must be no longer than ${maxUserLength} characters`);
  } else if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    report.invalid(name, "the user has a character that isn't allowed");
  else if (/^[. ]+$/.test(user)) report.invalid(name, "the user can't be only dots and spaces");
}
