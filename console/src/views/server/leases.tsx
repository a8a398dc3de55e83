import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getJson, messageOf } from "../../api/client.ts";
import { pause } from "../../api/streams.ts";
import { leaseRows, systemNamespace, type Lease } from "../../model/leases.ts";
import { serverTypes } from "../../state/session.ts";
import { timeText } from "../../model/time.ts";

const intervalMs = 5000;
/** Leases beyond this number are not shown. */
const maxLeases = 100;

/** The leader, and the other leases of the system namespace: which servers and programs run. */
export function Leases() {
  const leases = useSignal<readonly Lease[] | string | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const { groupSuffix } = serverTypes.value;
    const path = `/apis/coordination.${groupSuffix}/v1/namespaces/${systemNamespace(groupSuffix)}/leases`;
    const follow = async () => {
      while (!controller.signal.aborted) {
        await getJson<{ items: Lease[] }>(`${path}?limit=${maxLeases}`, { signal: controller.signal })
          .then(({ items }) => (leases.value = items))
          .catch((error: unknown) => {
            if (!controller.signal.aborted) leases.value = messageOf(error);
          });
        await pause(intervalMs, controller.signal);
      }
    };
    follow().catch((error: unknown) => (leases.value = messageOf(error)));
    return () => controller.abort();
  }, []);
  const { value } = leases;
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
          <thead>
            <tr>
              {["Lease", "Holder", "Since", "Renewed", "Changes"].map((title) => (
                <th scope="col" key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
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
