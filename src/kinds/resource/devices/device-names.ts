import { dnsLabelFaults, dnsSubdomainFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { storageDriverName } from "../../checks/names.ts";

const maxPoolLength = 253;
const maxIdentifierLength = 32;
const identifierForm = /^[A-Za-z_][A-Za-z0-9_]*$/;
const identifierMessage =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** Requires the name of a driver: a DNS subdomain of up to 63 characters; capitals are allowed. */
export function driverName(name: string, report: FieldReport): void {
  if (name === "") report.required();
  else storageDriverName(name, report);
}

/** Requires a DNS label. */
export function labelName(name: string, report: FieldReport): void {
  for (const message of dnsLabelFaults(name)) report.invalid(name, message);
}

/** Requires the name of a pool: DNS subdomains with slashes between them. */
export function poolName(name: string, report: FieldReport): void {
  if (name === "") report.required();
  else optionalPoolName(name, report);
}

/** As {@link poolName}, for a field that may be absent: an empty name is invalid. */
export function optionalPoolName(name: string, report: FieldReport): void {
  if (Buffer.byteLength(name) > maxPoolLength) report.tooLong(maxPoolLength);
  for (const part of name.split("/")) {
    for (const message of dnsSubdomainFaults(part)) report.invalid(part, message);
  }
}

/** Requires an identifier with an optional domain before a slash. */
export function attributeName(name: string, report: FieldReport): void {
  const [first = "", second, third] = name.split("/", 3);
  // The reference accepts all names with several slashes.
  if (third !== undefined) return;
  if (second === undefined) return identifier(first, report);
  if (first === "") report.invalid("", "the domain must not be empty");
  else driverName(first, report);
  if (second === "") report.invalid("", "the name must not be empty");
  else identifier(second, report);
}

/** Requires a domain, a slash and an identifier. */
export function fullAttributeName(name: string, report: FieldReport): void {
  attributeName(name, report);
  if (!name.includes("/")) {
    report.invalid(name, "a fully qualified name must be a domain and a name separated by a slash");
  }
}

function identifier(text: string, report: FieldReport): void {
  if (text.length > maxIdentifierLength) report.tooLong(maxIdentifierLength);
  if (!identifierForm.test(text)) report.invalid(text, identifierMessage);
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Requires a UUID in lower case. */
export function uuid(text: string, report: FieldReport): void {
  if (!uuidForm.test(text)) {
    report.invalid(
      text,
      "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters",
    );
  }
}
