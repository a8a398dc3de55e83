/** Whether a release, such as `1.26`, is later than another. */
export function isLater(release: string, other: string): boolean {
  const [major = 0, minor = 0] = release.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split(".").map(Number);
  return major === otherMajor ? minor > otherMinor : major > otherMajor;
}

/** Returns the release that is this number of minor releases later, or earlier if negative. */
export function releaseAfter(release: string, releases: number): string {
  const [major = "", minor = ""] = release.split(".");
  return `${major}.${Number(minor) + releases}`;
}
