import { defaultRelease, releases, type Release } from "../../base/releases.ts";
import type { ReferenceMode, ValidatorOptions } from "../../server/validation/validator.ts";
import { vocabularyNamed } from "../../vocabulary/vocabularies.ts";
import { accessFlags } from "../client/access-flags.ts";
import type { Flag } from "../flags/flag.ts";
import { UsageError, type FlagReader } from "../flags/flag-reader.ts";

/** The formats of `--output`. */
export const formats = ["text", "json", "junit", "sarif", "github", "name"] as const;

const references: readonly ReferenceMode[] = ["warning", "error", "ignore"];
const levels = ["privileged", "baseline", "restricted"] as const;

/** Flags of the manifests and of the servers that judge them. */
export const inputFlags: readonly Flag[] = [
  {
    name: "filename",
    short: "f",
    type: "list",
    default: "",
    doc: "Manifests: files, folders with their subfolders, or - for standard input; the same as arguments without a flag.",
  },
  {
    name: "with",
    type: "list",
    default: "",
    doc: "Files and folders with objects that decide about the manifests, such as definitions and namespaces, and aren't validated.",
  },
  ...accessFlags.map((flag) =>
    flag.name === "server"
      ? {
          ...flag,
          doc: "URL of a running server whose definitions, namespaces, policies, roles and classes count too; it is only read.",
        }
      : flag.name === "kubeconfig"
        ? { ...flag, doc: "Kubeconfig file of a running server, as --server." }
        : flag,
  ),
  {
    name: "namespace",
    short: "n",
    type: "string",
    default: "default",
    doc: "Namespace of objects that name none.",
  },
  {
    name: "vocabulary",
    type: "string",
    default: "kubernetes",
    doc: "Names of groups and labels in the manifests: platform or kubernetes.",
  },
];

/** Every flag of `plinth validate`. */
export const validateFlags: readonly Flag[] = [
  ...inputFlags,
  {
    name: "release",
    type: "list",
    default: defaultRelease,
    doc: `API releases that judge the manifests, comma-separated, from ${releases[0]} to ${releases.at(-1)!}.`,
  },
  {
    name: "policy",
    type: "list",
    default: "",
    doc: "Files with admission policies and their bindings, which judge the manifests and aren't validated.",
  },
  {
    name: "pod-security",
    type: "string",
    default: "",
    doc: "Level of the Pod Security Standards in namespaces without labels for it: privileged, baseline or restricted; pods that a controller would create count too.",
  },
  {
    name: "as",
    type: "string",
    default: "",
    doc: "User who applies the manifests, with the rights of the roles and bindings among them; by default one who may do everything.",
  },
  {
    name: "groups",
    type: "list",
    default: "",
    doc: "With --as: groups of the user, comma-separated, without those that authentication adds.",
  },
  {
    name: "references",
    type: "string",
    default: "warning",
    doc: "What references to objects, pods and ports that don't exist count as: warning, error or ignore.",
  },
  {
    name: "unknown-kinds",
    type: "string",
    default: "error",
    doc: "What objects count as whose kind the release doesn't serve and no definition declares: error or warning.",
  },
  {
    name: "output",
    short: "o",
    type: "string",
    default: "text",
    doc: `Output format: ${formats.join(", ")}.`,
  },
  {
    name: "watch",
    type: "boolean",
    default: "",
    doc: "Validate again whenever a file changes.",
  },
];

/**
 * Returns the releases of a flag.
 *
 * @throws {UsageError} for one that there isn't.
 */
function releasesOf(read: FlagReader, flag: string): readonly Release[] {
  const names = read.list(flag);
  if (names.length === 0)
    throw new UsageError(`--${flag}: a release is needed, one of ${releases.join(", ")}`);
  return [...new Set(names.map((name) => releaseOf(flag, name)))];
}

/** Checks the name of a release. @throws {UsageError} */
export function releaseOf(flag: string, name: string): Release {
  const match = releases.find((one) => one === name);
  if (match === undefined)
    throw new UsageError(`--${flag}: ${JSON.stringify(name)} is not one of ${releases.join(", ")}`);
  return match;
}

/**
 * Returns the options of the validation.
 *
 * @throws {UsageError} for a wrong value.
 */
export function validatorOptionsOf(read: FlagReader): ValidatorOptions {
  const user = read.optional("as");
  const groups = read.list("groups");
  if (groups.length > 0 && user === undefined) throw new UsageError("--groups is given with --as only");
  return {
    releases: releasesOf(read, "release"),
    vocabulary: vocabularyOf(read),
    namespace: read.required("namespace"),
    podSecurity:
      read.optional("pod-security") === undefined ? undefined : read.choice("pod-security", levels),
    user,
    groups,
    references: read.choice("references", references),
    acceptsUnknownKinds: read.choice("unknown-kinds", ["error", "warning"]) === "warning",
  };
}

/** Returns the vocabulary of the manifests. @throws {UsageError} */
export function vocabularyOf(read: FlagReader): ValidatorOptions["vocabulary"] {
  return vocabularyNamed(read.choice("vocabulary", ["platform", "kubernetes"]));
}
