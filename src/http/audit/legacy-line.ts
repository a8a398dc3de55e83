import { type AuditEvent, microTimeText } from "./event.ts";

/** Returns an event as one line, in the form `legacy` of `--audit-log-format`. */
export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus } = event;
  const hasUser = user.name !== "";
  const fields = [
    `id=${quote(event.auditId)}`,
    `stage=${quote(event.stage)}`,
    `ip=${quote(event.sourceIps[0] ?? "<unknown>")}`,
    `method=${quote(event.verb)}`,
    `user=${quote(hasUser ? user.name : "<none>")}`,
    `groups=${quote(hasUser && user.groups.length > 0 ? quotedList(user.groups) : "<none>")}`,
    `as=${quote(impersonatedUser?.name ?? "<self>")}`,
    `asgroups=${quote(impersonatedUser === undefined ? "<lookup>" : quotedList(impersonatedUser.groups))}`,
    `user-agent=${quote(event.userAgent)}`,
    `namespace=${quote(objectRef === undefined || objectRef.namespace === "" ? "<none>" : objectRef.namespace)}`,
    `uri=${quote(event.requestUri)}`,
    `response="${responseStatus?.code ?? "<deferred>"}"`,
  ];
  return `${microTimeText(event.receivedMicros)} AUDIT: ${fields.join(" ")}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Returns the list as one text, with each item quoted. */
function quotedList(texts: readonly string[]): string {
  return texts.map(quote).join(",");
}
