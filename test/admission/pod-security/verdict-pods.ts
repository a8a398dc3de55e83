import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Api } from "../../support/api.ts";
import { effort } from "../../support/effort.ts";

/** Changes of one pod by path; null removes a member, and `~` in a path is a dot of a key. */
type Changes = Readonly<Record<string, unknown>>;

/** The verdicts about one pod: the versions of each level's policy that allow it, or that it is invalid. */
export type Verdict = { readonly baseline: string; readonly restricted: string } | "invalid";

const read = (name: string): unknown =>
  parse(readFileSync(new URL(`verdicts/${name}`, import.meta.url), "utf8"));

/** The changed pods by check and name. */
export const changedPods = read("cases.yaml") as Readonly<Record<string, Readonly<Record<string, Changes>>>>;

/** Recorded verdicts by check and name of the pod. */
export function recordedVerdicts(
  release: string,
): Readonly<Record<string, Readonly<Record<string, Verdict>>>> {
  return read(`${release}.yaml`) as ReturnType<typeof recordedVerdicts>;
}

const levels = ["baseline", "restricted"] as const;

/** Versions of policies: each that changes a check, and the one before it. */
const versions = [0, 7, 8, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37].map(
  (minor) => `v1.${minor}`,
);

const spaceOf = (level: string, version: string) => `${level}-${version.replace(".", "-")}`;

/** Creates a namespace for each level and version. */
export async function createSpaces(admin: Api): Promise<void> {
  for (const level of levels)
    for (const version of versions) {
      const labels = {
        "pod-security.kubernetes.io/enforce": level,
        "pod-security.kubernetes.io/enforce-version": version,
      };
      const body = { metadata: { name: spaceOf(level, version), labels } };
      const { status, text } = await admin.post("/api/v1/namespaces", body);
      if (status !== 201) throw new Error(text);
    }
}

/**
 * Creates a pod in a dry run in the namespaces, and returns which versions allow it. In short only where the recorded verdict begins,
 * changes and ends: the versions between two of these count as the one before them.
 */
export async function verdictOf(admin: Api, changes: Changes, recorded: Verdict): Promise<Verdict> {
  const body = podWith(changes);
  const verdict = { baseline: "", restricted: "" };
  for (const level of levels) {
    const asked = effort(edgesOf(recorded === "invalid" ? "all" : recorded[level]), versions);
    const allowing: string[] = [];
    let isAllowed = false;
    for (const version of versions) {
      if (asked.includes(version)) {
        const at = `/api/v1/namespaces/${spaceOf(level, version)}/pods?dryRun=All`;
        const { status, text } = await admin.post(at, body);
        if (status === 422) return "invalid";
        isAllowed = status === 201;
        if (!isAllowed && (status !== 403 || !text.includes("violates PodSecurity"))) throw new Error(text);
      }
      if (isAllowed) allowing.push(version);
    }
    verdict[level] = rangesOf(allowing);
  }
  return verdict;
}

/** Returns the first and the last version, and those that a recorded text names, with their neighbors. */
function edgesOf(ranges: string): readonly string[] {
  const named = versions.map((version) => new RegExp(`\\b${version}(?!\\d)`).test(ranges));
  return versions.filter(
    (_, at) => at === 0 || at === versions.length - 1 || named[at - 1] || named[at] || named[at + 1],
  );
}

/** Returns versions as text: `all`, `none`, or ranges such as `v1.0 to v1.7 and from v1.22`. */
function rangesOf(allowing: readonly string[]): string {
  if (allowing.length === 0) return "none";
  if (allowing.length === versions.length) return "all";
  const ranges: string[] = [];
  for (let start = 0; start < versions.length; start++) {
    if (!allowing.includes(versions[start]!)) continue;
    let end = start;
    while (end + 1 < versions.length && allowing.includes(versions[end + 1]!)) end++;
    ranges.push(
      end === versions.length - 1 ? `from ${versions[start]}` : `${versions[start]} to ${versions[end]}`,
    );
    start = end;
  }
  return ranges.join(" and ");
}

/** A pod that every level and version allows, with the changes. */
function podWith(changes: Changes): object {
  const container = (name: string) => ({
    name,
    image: "registry.example/image",
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  });
  const pod = {
    metadata: { name: "pod", annotations: {} },
    spec: {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      initContainers: [container("init")],
      containers: [container("main")],
    },
  };
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split(".").map((key) => key.replaceAll("~", "."));
    const last = keys.pop()!;
    let at = pod as Record<string, unknown>;
    for (const key of keys) at = (at[key] ??= {}) as Record<string, unknown>;
    if (value === null) delete at[last];
    else at[last] = value;
  }
  return pod;
}
