import type { FieldReport } from "../../../schema/faults.ts";

type Items = readonly { readonly path: string }[] | undefined;

interface Source {
  readonly secret?: { readonly name?: string | undefined; readonly items?: Items } | undefined;
  readonly configMap?: { readonly name?: string | undefined; readonly items?: Items } | undefined;
  readonly downwardAPI?: { readonly items?: Items } | undefined;
  readonly serviceAccountToken?: { readonly path: string } | undefined;
}

const kinds = ["secret", "configMap", "downwardAPI", "serviceAccountToken"] as const;

/** Requires sources of one type each, and unique paths of files. */
export function checkSources(
  volume: { readonly sources?: readonly Source[] | null | undefined },
  report: FieldReport,
): void {
  const paths = new Set<string>();
  for (const [index, source] of (volume.sources ?? []).entries()) {
    if (report.full) return;
    const setKinds = kinds.filter((name) => source[name] !== undefined);
    for (const name of setKinds.slice(1)) {
      report.at("sources", index, name).forbidden("may not specify more than 1 volume type");
    }
    for (const path of pathsOf(source)) {
      if (path === "") continue;
      if (paths.has(path)) report.invalid(path, "conflicting duplicate paths");
      paths.add(path);
    }
  }
}

function pathsOf({ secret, configMap, downwardAPI, serviceAccountToken }: Source): string[] {
  const items = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])];
  if (serviceAccountToken !== undefined) items.push(serviceAccountToken);
  return items.map(({ path }) => path);
}

const minSeconds = 600;
const maxSeconds = 2 ** 32;

/** Checks the lifetime of a token, in seconds. */
export function tokenSeconds(seconds: number | bigint, report: FieldReport): void {
  if (seconds < minSeconds) report.invalid(seconds, "may not be less than 10 minutes");
  if (seconds > maxSeconds) report.invalid(seconds, "may not be more than 2^32 seconds");
}
