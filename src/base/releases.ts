/** The API releases that a server can follow, oldest first. */
export const releases = [
  "1.26",
  "1.27",
  "1.28",
  "1.29",
  "1.30",
  "1.31",
  "1.32",
  "1.33",
  "1.34",
  "1.35",
  "1.36",
  "1.37",
] as const;

/** An API release, such as `1.26`. */
export type Release = (typeof releases)[number];

/** The reference release, which a server follows by default. */
export const defaultRelease: Release = "1.26";

/** Returns the version that a server of a release reports. */
export function gitVersionOf(release: Release): string {
  return `v${release}.0+plinth`;
}

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
