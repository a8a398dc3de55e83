import type { FieldReport } from "../../schema/faults.ts";

interface Consumer {
  readonly apiGroup?: string | undefined;
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
}

interface Claim {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status?:
    | {
        readonly driverName?: string | undefined;
        readonly allocation?: { readonly shareable?: boolean | undefined } | undefined;
        readonly reservedFor?: readonly Consumer[] | undefined;
        readonly deallocationRequested?: boolean | undefined;
      }
    | undefined;
}

const maxHandleBytes = 32 * 1024;
const maxConsumers = 32;

/** Limits the length of a driver's resource handle. */
export function shortHandle(handle: string, report: FieldReport): void {
  if (Buffer.byteLength(handle) > maxHandleBytes) report.tooLong(maxHandleBytes);
}

/** Limits the number of consumers, and requires that they are unique. */
export function consumers(list: readonly Consumer[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, consumer] of list.entries()) {
    if (report.full) return;
    const key = keyOf(consumer);
    if (seen.has(key)) report.at(index).duplicate(consumer);
    seen.add(key);
  }
  if (list.length > maxConsumers) report.tooMany(list.length, maxConsumers);
}

function keyOf({ apiGroup = "", resource, name, uid }: Consumer): string {
  return JSON.stringify([apiGroup, resource, name, uid]);
}

/** Rejects invalid transitions of a status: reservations, and deallocation. */
export function checkStatusChange(claim: Claim, live: Claim, report: FieldReport): void {
  const { allocation, driverName = "", deallocationRequested = false } = claim.status ?? {};
  if (driverName === "" && allocation !== undefined) {
    report.at("driverName").required("must be given when `allocation` is set");
  }
  checkReservations(claim, live, report.at("reservedFor"));
  const reserved = (claim.status?.reservedFor ?? []).length > 0;
  const before = live.status?.deallocationRequested ?? false;
  const request = report.at("deallocationRequested");
  if (!before && deallocationRequested && reserved) {
    request.forbidden("deallocation can't be requested while `reservedFor` is set");
  }
  if (allocation === undefined && deallocationRequested) {
    request.forbidden("`allocation` must be set when `deallocationRequested` is set");
  }
  // The driver may already be deallocating; only it may clear the request, together with the allocation.
  if (before && !deallocationRequested && allocation !== undefined) {
    request.forbidden("may not be cleared when `allocation` is set");
  }
}

function checkReservations({ metadata, status }: Claim, live: Claim, report: FieldReport): void {
  const list = status?.reservedFor ?? [];
  if (list.length === 0) return;
  const allocation = status?.allocation;
  if (allocation === undefined) return report.forbidden("may not be given when `allocation` is not set");
  if (allocation.shareable !== true && list.length > 1)
    report.forbidden("may not be reserved more than once");
  if (metadata.deletionTimestamp === undefined && status?.deallocationRequested !== true) return;
  const before = new Set((live.status?.reservedFor ?? []).map(keyOf));
  if (list.some((consumer) => !before.has(keyOf(consumer)))) {
    report.forbidden(
      "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
    );
  }
}

/** Returns the state of a claim for its table. */
export function stateText({ metadata, status }: Claim): string {
  const deleted = metadata.deletionTimestamp !== undefined;
  const states = deleted ? ["deleted"] : [];
  if (status?.allocation === undefined) {
    if (!deleted) states.push("pending");
    return states.join(",");
  }
  states.push("allocated");
  if ((status.reservedFor ?? []).length > 0) states.push("reserved");
  else if (deleted || status.deallocationRequested === true) states.push("deallocating");
  return states.join(",");
}
