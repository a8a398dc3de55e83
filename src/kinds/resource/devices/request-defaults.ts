/** The mode that needs a count. */
export const exactCount = "ExactCount";

interface Request {
  allocationMode?: string | undefined;
  count?: number | bigint | undefined;
}

/** Sets the default mode of a request, and the default count of the mode ExactCount. */
export function fillRequest(copy: Request): void {
  copy.allocationMode ||= exactCount;
  if (copy.allocationMode === exactCount) copy.count ||= 1;
}
