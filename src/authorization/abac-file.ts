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
  user: field(1, string, "Name of a user; `*`: everybody who is authenticated."),
  group: field(2, string, "Group of users; `*`: everybody who is authenticated."),
  readonly: field(3, bool, "Whether only get, list and watch are allowed."),
  resource: field(5, string, "Resource type; `*`: any."),
  namespace: field(6, string, "Namespace; `*`: any."),
};

const PolicySpec = struct("PolicySpec", "What is allowed to whom.", {
  ...subject,
  apiGroup: field(4, string, "Group of the resource type; `*`: any."),
  nonResourcePath: field(7, string, "Path outside the resources; a `*` at the end stands for any rest."),
});

const Policy = struct("Policy", "One policy.", {
  kind: field(undefined, string, "Policy."),
  apiVersion: field(undefined, string, "Version of the policy's form."),
  spec: field(1, PolicySpec, "What is allowed to whom.").required(),
});

/** The form before there were versions. */
const FlatPolicy = struct("FlatPolicy", "One policy without a version.", subject);

/** The policies of a file, and what in it has no effect or should be written anew. */
export interface AbacFile {
  readonly policies: readonly AbacPolicy[];
  readonly warnings: readonly string[];
}

/**
 * Reads a file of policies: one JSON object a line; empty lines, and those that begin with `#`, are left out.
 *
 * @throws {Error} with the line's number, for a line that can't be used.
 */
export function parseAbacFile(text: string, vocabulary: Vocabulary): AbacFile {
  const policies: AbacPolicy[] = [];
  const warnings: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const warn = (message: string) => warnings.push(`line ${index + 1}: ${message}`);
    try {
      policies.push(policyOf(trimmed, vocabulary, warn));
    } catch (error) {
      if (!(error instanceof SyntaxFault || error instanceof TypeFault || error instanceof LineFault))
        throw error;
      throw new Error(`line ${index + 1}: ${error.message}`, { cause: error });
    }
  }
  return { policies, warnings };
}

/** A line that is JSON, but no policy. */
class LineFault extends Error {
  override name = "LineFault";
}

function policyOf(line: string, vocabulary: Vocabulary, warn: (message: string) => void): AbacPolicy {
  const { value, duplicates } = decodeJson(Buffer.from(line));
  for (const name of duplicates) warn(`field ${JSON.stringify(name)} is given twice; the last one counts`);
  if (!isObject(value)) throw new LineFault("a policy is a JSON object");
  const authenticated = `${vocabulary.systemPrefix}authenticated`;
  if (value["apiVersion"] === undefined && value["kind"] === undefined && value["spec"] === undefined) {
    warn("a policy without apiVersion and kind is of an old form, which allows more than it says");
    return flatPolicy(read(FlatPolicy, value, warn) as Static<typeof FlatPolicy>, authenticated);
  }
  const wanted = `abac.authorization.${vocabulary.domain}/v1beta1`;
  if (value["kind"] !== "Policy" || value["apiVersion"] !== wanted) {
    const found = `${encodeJson(value["kind"] ?? "")} of ${encodeJson(value["apiVersion"] ?? "")}`;
    throw new LineFault(`kind and apiVersion: found ${found}, need "Policy" of "${wanted}"`);
  }
  const { spec } = read(Policy, value, warn) as unknown as { spec: Static<typeof PolicySpec> };
  const policy: AbacPolicy = { ...everythingEmpty, ...(spec as Partial<AbacPolicy>) };
  // Everybody means everybody who is authenticated.
  return policy.user === "*" || policy.group === "*" ? { ...policy, user: "", group: authenticated } : policy;
}

const everythingEmpty: AbacPolicy = {
  user: "",
  group: "",
  readonly: false,
  namespace: "",
  resource: "",
  apiGroup: "",
  nonResourcePath: "",
};

/** In the old form, what isn't said is everything. */
function flatPolicy(flat: Static<typeof FlatPolicy>, authenticated: string): AbacPolicy {
  const { user = "", group = "", namespace = "", resource = "", readonly = false } = flat;
  const everybody = user === "*" || group === "*" || (user === "" && group === "");
  return {
    user: everybody ? "" : user,
    group: everybody ? authenticated : group,
    readonly,
    namespace: namespace === "" ? "*" : namespace,
    resource: resource === "" ? "*" : resource,
    apiGroup: "*",
    nonResourcePath: namespace === "" && resource === "" ? "*" : "",
  };
}

function read(type: StructType, value: JsonObject, warn: (message: string) => void): unknown {
  const { value: read, unknownFields } = decode(type, value);
  for (const name of unknownFields) warn(`unknown field ${JSON.stringify(name)} has no effect`);
  return read;
}
