/** Whether one release, such as `1.26`, came after another. */
export function isLater(release: string, other: string): boolean {
  const [major = 0, minor = 0] = release.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split(".").map(Number);
  return major === otherMajor ? minor > otherMinor : major > otherMajor;
}

/** The release a number of minor releases later, or earlier. */
export function releaseAfter(release: string, releases: number): string {
  const [major = "", minor = ""] = release.split(".");
  return `${major}.${Number(minor) + releases}`;
}
