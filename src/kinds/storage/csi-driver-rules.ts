import type { FieldReport } from "../../schema/faults.ts";

const lifecycleModes = ["Ephemeral", "Persistent"];
const groupPolicies = ["File", "None", "ReadWriteOnceWithFSType"];

interface Choices {
  readonly volumeLifecycleModes?: readonly string[] | undefined;
  readonly fsGroupPolicy?: string | undefined;
}

/** Checks allowed values that the published schema doesn't list. */
export function checkChoices(
  { volumeLifecycleModes = [], fsGroupPolicy }: Choices,
  report: FieldReport,
): void {
  for (const mode of volumeLifecycleModes) {
    if (report.full) return;
    if (!lifecycleModes.includes(mode)) report.at("volumeLifecycleModes").notSupported(mode, lifecycleModes);
  }
  if (fsGroupPolicy !== undefined && !groupPolicies.includes(fsGroupPolicy)) {
    report.at("fsGroupPolicy").notSupported(fsGroupPolicy, groupPolicies);
  }
}

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

interface Request {
  readonly audience: string;
  readonly expirationSeconds?: number | bigint | undefined;
}

/** Requires unique audiences, and lifetimes of at least ten minutes. */
export function checkTokenRequests(requests: readonly Request[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, { audience, expirationSeconds }] of requests.entries()) {
    if (report.full) return;
    const here = report.at(index);
    if (seen.has(audience)) here.at("audience").duplicate(audience);
    seen.add(audience);
    if (expirationSeconds === undefined) continue;
    const seconds = here.at("expirationSeconds");
    if (expirationSeconds < minTokenSeconds) {
      seconds.invalid(expirationSeconds, "may not specify a duration less than 10 minutes");
    }
    if (expirationSeconds > maxTokenSeconds) {
      seconds.invalid(expirationSeconds, "may not specify a duration larger than 2^32 seconds");
    }
  }
}
