import { labelKey } from "../vocabulary/names.ts";
import { encodeJson } from "../base/json/encode.ts";
import { decodeJson } from "../base/json/decode.ts";
import { SyntaxFault } from "../base/json/syntax-fault.ts";
import { isObject, type JsonObject } from "../base/json/value.ts";
import { decode, TypeFault } from "../schema/decode.ts";
import { struct } from "../schema/meta.ts";
import { bool, field, string, type Static, type StructType } from "../schema/types.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { AbacPolicy } from "./abac.ts";

const subject = {
  user: field(1, string, "Name of a user; `*`: every authenticated user."),
  group: field(2, string, "Group of users; `*`: every authenticated user."),
  readonly: field(3, bool, "Whether only get, list and watch are allowed."),
  resource: field(5, string, "Resource type; `*`: any."),
  namespace: field(6, string, "Namespace; `*`: any."),
};

const PolicySpec = struct("PolicySpec", "Subject, actions and resources.", {
  ...subject,
  apiGroup: field(4, string, "Group of the resource type; `*`: any."),
  nonResourcePath: field(7, string, "Path outside the resources; a trailing `*` matches any suffix."),
});

const Policy = struct("Policy", "A policy.", {
  kind: field(undefined, string, "`Policy`."),
  apiVersion: field(undefined, string, "Version of the policy format."),
  spec: field(1, PolicySpec, "Subject, actions and resources.").required(),
});

/** The unversioned format. */
const FlatPolicy = struct("FlatPolicy", "A policy in the unversioned format.", subject);

/** A parsed policy file. The warnings name lines with unknown or repeated fields, or in the deprecated format. */
export interface AbacFile {
  readonly policies: readonly AbacPolicy[];
  readonly warnings: readonly string[];
}

/**
 * Parses a policy file: one JSON object per line. Empty lines and lines that begin with `#` are skipped.
 *
 * @throws {Error} with the line number, if a line is invalid.
 */
export function parseAbacFile(text: string, vocabulary: Vocabulary): AbacFile {
  const policies: AbacPolicy[] = [];
  const warnings: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const warn = (message: string) => warnings.push(`line ${index + 1}: ${message}`);
    try {
      policies.push(parsePolicy(trimmed, vocabulary, warn));
    } catch (error) {
      if (!(
        error instanceof SyntaxFault ||
        error instanceof TypeFault ||
        error instanceof InvalidPolicyError
      ))
        throw error;
      throw new Error(`line ${index + 1}: ${error.message}`, { cause: error });
    }
  }
  return { policies, warnings };
}

/** A line is valid JSON, but not a policy. */
class InvalidPolicyError extends Error {
  override name = "InvalidPolicyError";
}

function parsePolicy(line: string, vocabulary: Vocabulary, warn: (message: string) => void): AbacPolicy {
  const { value, duplicates } = decodeJson(Buffer.from(line));
  for (const name of duplicates) warn(`field ${JSON.stringify(name)} occurs twice; the last value is used`);
  if (!isObject(value)) throw new InvalidPolicyError("a policy must be a JSON object");
  const authenticated = `${vocabulary.systemPrefix}authenticated`;
  if (value["apiVersion"] === undefined && value["kind"] === undefined && value["spec"] === undefined) {
    warn(
      "a policy without apiVersion and kind has the deprecated unversioned format, in which an omitted field matches everything",
    );
    return fromFlatPolicy(
      decodeWithWarnings(FlatPolicy, value, warn) as Static<typeof FlatPolicy>,
      authenticated,
    );
  }
  const expectedVersion = labelKey(vocabulary.domain, "v1beta1", "abac.authorization");
  if (value["kind"] !== "Policy" || value["apiVersion"] !== expectedVersion) {
    const actual = `${encodeJson(value["kind"] ?? "")} of ${encodeJson(value["apiVersion"] ?? "")}`;
    throw new InvalidPolicyError(
      `kind and apiVersion: found ${actual}, expected "Policy" of "${expectedVersion}"`,
    );
  }
  const { spec } = decodeWithWarnings(Policy, value, warn) as unknown as { spec: Static<typeof PolicySpec> };
  const policy: AbacPolicy = { ...emptyPolicy, ...(spec as Partial<AbacPolicy>) };
  // `*` matches every authenticated user, but not anonymous ones.
  return policy.user === "*" || policy.group === "*" ? { ...policy, user: "", group: authenticated } : policy;
}

const emptyPolicy: AbacPolicy = {
  user: "",
  group: "",
  readonly: false,
  namespace: "",
  resource: "",
  apiGroup: "",
  nonResourcePath: "",
};

/** Converts a policy of the unversioned format, in which an omitted field matches everything. */
function fromFlatPolicy(flat: Static<typeof FlatPolicy>, authenticated: string): AbacPolicy {
  const { user = "", group = "", namespace = "", resource = "", readonly = false } = flat;
  const everyUser = user === "*" || group === "*" || (user === "" && group === "");
  return {
    user: everyUser ? "" : user,
    group: everyUser ? authenticated : group,
    readonly,
    namespace: namespace === "" ? "*" : namespace,
    resource: resource === "" ? "*" : resource,
    apiGroup: "*",
    nonResourcePath: namespace === "" && resource === "" ? "*" : "",
  };
}

function decodeWithWarnings(type: StructType, value: JsonObject, warn: (message: string) => void): unknown {
  const { value: decoded, unknownFields } = decode(type, value);
  for (const name of unknownFields) warn(`unknown field ${JSON.stringify(name)} has no effect`);
  return decoded;
}
