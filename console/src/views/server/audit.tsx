import { useMemo } from "preact/hooks";
import { ApiError, getJson } from "../../api/client.ts";
import { auditRows, type AuditEvent, type AuditRow } from "../../model/audit-events.ts";
import { usePolled } from "../../state/use-polled.ts";
import { TableHead } from "../../parts/table-head.tsx";

const intervalMs = 3000;
const path = "/debug/audit";
const limit = 200;

/** The newest requests; undefined if the server has no audit policy. */
interface Audit {
  readonly rows: readonly AuditRow[] | undefined;
}

/** Returns whether the server has an audit policy; true if the user may not read the paths of the server. */
async function hasAudit(aborted: AbortSignal): Promise<boolean> {
  try {
    const { paths } = await getJson<{ paths: string[] }>("/", { signal: aborted });
    return paths.includes(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return true;
    throw error;
  }
}

/** Returns a function that reads the newest requests. */
function auditReader(): (aborted: AbortSignal) => Promise<Audit> {
  let isRecorded: boolean | undefined;
  return async (aborted) => {
    isRecorded ??= await hasAudit(aborted);
    if (!isRecorded) return { rows: undefined };
    const { items } = await getJson<{ items: AuditEvent[] }>(`${path}?limit=${limit}`, { signal: aborted });
    return { rows: auditRows(items) };
  };
}

/** The newest audited requests, the last one first. */
export function Audit() {
  const value = usePolled(useMemo(auditReader, []), intervalMs);
  return (
    <section aria-label="Audit">
      <h2>Audit</h2>
      {typeof value === "string" && <p class="bad">{value}</p>}
      {typeof value === "object" && value.rows === undefined && (
        <p class="note">
          The server records no requests; start it with <code>--audit-policy-file</code>.
        </p>
      )}
      {typeof value === "object" && value.rows !== undefined && <AuditTable rows={value.rows} />}
    </section>
  );
}

function AuditTable({ rows }: { readonly rows: readonly AuditRow[] }) {
  return (
    // A region that scrolls can be reached with the keyboard.
    <div class="audit" tabIndex={0} role="region" aria-label="Newest requests">
      <table class="plain">
        <TableHead columns={["Time", "User", "Verb", "Path", "Status"]} />
        <tbody>
          {rows.map(({ id, time, user, verb, uri, code, message }) => (
            <tr key={id}>
              <td>{time.slice("2026-01-01T".length, "2026-01-01T00:00:00.000".length)}</td>
              <td>{user}</td>
              <td>{verb}</td>
              <td class="uri">{uri}</td>
              <td class={code !== undefined && code >= 400 ? "bad" : ""}>
                {code ?? "…"} {message}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
