import { getJson } from "../../api/client.ts";
import { leaseRows, systemNamespace, type Lease } from "../../model/leases.ts";
import { serverTypes } from "../../state/session.ts";
import { usePolled } from "../../state/use-polled.ts";
import { timeText } from "../../model/time.ts";
import { TableHead } from "../../parts/table-head.tsx";

const intervalMs = 5000;
/** Leases beyond this number are not shown. */
const maxLeases = 100;

async function readLeases(aborted: AbortSignal): Promise<readonly Lease[]> {
  const { groupSuffix } = serverTypes.value;
  const path = `/apis/coordination.${groupSuffix}/v1/namespaces/${systemNamespace(groupSuffix)}/leases`;
  const { items } = await getJson<{ items: Lease[] }>(`${path}?limit=${maxLeases}`, { signal: aborted });
  return items;
}

/** The leader, and the other leases of the system namespace: which servers and programs run. */
export function Leases() {
  const value = usePolled(readLeases, intervalMs);
  return (
    <section>
      <h2>Leader and leases</h2>
      {typeof value === "string" && <p class="bad">{value}</p>}
      {typeof value === "object" && <LeaseTable leases={value} />}
    </section>
  );
}

function LeaseTable({ leases }: { readonly leases: readonly Lease[] }) {
  const rows = leaseRows(leases, Date.now());
  return (
    <>
      {!rows.some(({ isElection }) => isElection) && (
        <p class="note">The servers elect no leader: each runs its own controllers.</p>
      )}
      {rows.length > 0 && (
        <table class="plain">
          <TableHead columns={["Lease", "Holder", "Since", "Renewed", "Changes"]} />
          <tbody>
            {rows.map(({ name, holder, isElection, isExpired, acquired, renewed, transitions }) => (
              <tr key={name}>
                <th scope="row">
                  {name} {isElection && <span class="note">runs the controllers</span>}
                </th>
                <td>{holder === "" ? "nobody" : holder}</td>
                <td>{timeText(acquired)}</td>
                <td class={isExpired ? "bad" : ""}>
                  {timeText(renewed)} {isExpired && "expired"}
                </td>
                <td>{transitions}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
