/** An audit event, with the fields that the console reads. */
export interface AuditEvent {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly stageTimestamp: string;
  readonly user: { readonly username?: string };
  readonly impersonatedUser?: { readonly username?: string };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

/** An audited request, for people. */
export interface AuditRow {
  readonly id: string;
  /** RFC 3339. */
  readonly time: string;
  /** The user; with impersonation, `ann as bob`. */
  readonly user: string;
  readonly verb: string;
  readonly uri: string;
  /** Undefined for a request that isn't answered yet. */
  readonly code: number | undefined;
  /** Empty if the request succeeded. */
  readonly message: string;
}

/** Returns a row for each request, the newest first, with the last of its stages. */
export function auditRows(events: readonly AuditEvent[]): AuditRow[] {
  const last = new Map<string, AuditEvent>();
  for (const event of events) {
    // The last stage of a request determines its position.
    last.delete(event.auditID);
    last.set(event.auditID, event);
  }
  return [...last.values()].toReversed().map(rowOf);
}

function rowOf(event: AuditEvent): AuditRow {
  const { auditID: id, stageTimestamp: time, verb, requestURI: uri, responseStatus } = event;
  const name = event.user.username ?? "";
  const impersonated = event.impersonatedUser?.username;
  const code = responseStatus?.code;
  return {
    id,
    time,
    user: impersonated === undefined ? name : `${name} as ${impersonated}`,
    verb,
    uri,
    code,
    message: code !== undefined && code >= 400 ? (responseStatus?.message ?? "") : "",
  };
}
