import { useEffect } from "preact/hooks";
import { sendText } from "../../api/client.ts";
import { sumOf, sumsBy, type Metrics } from "../../model/metrics.ts";
import { Chart, numberText } from "../../parts/chart.tsx";
import { Fold } from "../../parts/fold.tsx";
import { StateText } from "../../parts/state-text.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { usePolled } from "../../state/use-polled.ts";
import { Audit } from "./audit.tsx";
import { Leases } from "./leases.tsx";
import { metricsFailure, newest, points, recordMetrics } from "../../state/metrics.ts";
import { TableHead } from "../../parts/table-head.tsx";

/** Each chart: its title, its unit, and the label and value of its lines. */
const charts = [
  ["Requests", "per second", { reads: "reads", writes: "writes" }],
  ["Latency", "ms", { p50: "p50", p95: "p95", p99: "p99" }],
  ["Failures", "per second", { errors: "errors", rejected: "rejected" }],
  ["Flow control", "requests", { executing: "executing", queued: "queued" }],
  ["Watches", "open", { watches: "watchers", connections: "connections" }],
  ["Watch events", "per second", { events: "events" }],
  ["Writes to the store", "per second", { revisions: "revisions" }],
  ["Storage", "MiB", { size: "storage" }],
  ["Memory", "MiB", { resident: "memory" }],
  ["Processor", "% of one core", { used: "processor" }],
] as const;

/** Health and metrics of the server. */
export function ServerView() {
  useEffect(recordMetrics, []);
  const { value: all } = points;
  return (
    <section class="page server" aria-label="Server">
      <h1>Server</h1>
      {metricsFailure.value !== "" && (
        <Failure title="The metrics can't be read" message={metricsFailure.value} />
      )}
      {all.length === 0 && metricsFailure.value === "" && <Loading label="Reading the metrics…" />}
      {all.length > 0 && (
        <>
          <div class="charts">
            {charts.map(([title, unit, lines]) => (
              <Chart
                key={title}
                title={title}
                unit={unit}
                timesMs={all.map(({ atMs }) => atMs)}
                lines={Object.entries(lines).map(([label, name]) => ({
                  label,
                  values: all.map(({ values }) => values[name] ?? Number.NaN),
                }))}
              />
            ))}
          </div>
          <p class="note">The charts begin when this page is first opened, and go back one hour at most.</p>
        </>
      )}
      <Health />
      <Leases />
      <Audit />
      <FlowLevels metrics={newest.value} />
      <Queues metrics={newest.value} />
      <StoredObjects metrics={newest.value} />
    </section>
  );
}

const healthIntervalMs = 10_000;

async function readHealth(aborted: AbortSignal): Promise<readonly string[]> {
  const lines = (await sendText("/readyz?verbose", aborted)).split("\n");
  return lines.filter((line) => /^\[[+-]\]/.test(line));
}

/** The health checks of the server, those that fail first. */
function Health() {
  const value = usePolled(readHealth, healthIntervalMs);
  if (value === undefined) return <Loading label="Reading the health checks…" />;
  if (typeof value === "string") return <Failure title="The health checks can't be read" message={value} />;
  const failing = value.filter((line) => line.startsWith("[-]"));
  const checks = [...failing, ...value.filter((line) => !line.startsWith("[-]"))];
  return (
    <section aria-label="Health">
      <h2>
        Health{" "}
        {failing.length === 0 ? (
          <StateText text={`all ${checks.length} checks pass`} tone="good" />
        ) : (
          <StateText text={`${failing.length} of ${checks.length} checks fail`} tone="bad" />
        )}
      </h2>
      <Fold items={checks} limit={Math.max(8, failing.length)} noun="checks">
        {(shown) => (
          <ul class="health">
            {shown.map((line) => (
              <li key={line} class={line.startsWith("[-]") ? "bad" : ""}>
                {line.replace(/^\[\+\](.*) ok$/, "✓ $1").replace(/^\[-\]/, "✗ ")}
              </li>
            ))}
          </ul>
        )}
      </Fold>
    </section>
  );
}

interface MetricsProps {
  readonly metrics: Metrics;
}

/** Seats, running and waiting requests by priority level. */
function FlowLevels({ metrics }: MetricsProps) {
  const seats = sumsBy(metrics, "apiserver_flowcontrol_current_limit_seats", "priority_level");
  const used = sumsBy(metrics, "apiserver_flowcontrol_request_concurrency_in_use", "priority_level");
  const queued = sumsBy(metrics, "apiserver_flowcontrol_current_inqueue_requests", "priority_level");
  const dispatched = sumsBy(metrics, "apiserver_flowcontrol_dispatched_requests_total", "priority_level");
  const names = [...new Set([...seats.keys(), ...dispatched.keys()])].toSorted();
  return (
    <NumberTable
      title="Priority levels"
      columns={["Level", "Seats", "Used", "Waiting", "Served"]}
      rows={names.map((name) => [
        name,
        seats.get(name),
        used.get(name),
        queued.get(name),
        dispatched.get(name),
      ])}
    />
  );
}

/** The queues of the controllers. */
function Queues({ metrics }: MetricsProps) {
  const depth = sumsBy(metrics, "workqueue_depth", "name");
  const adds = sumsBy(metrics, "workqueue_adds_total", "name");
  const retries = sumsBy(metrics, "workqueue_retries_total", "name");
  const running = sumsBy(metrics, "workqueue_unfinished_work_seconds", "name");
  return (
    <NumberTable
      title="Controllers"
      columns={["Queue", "Waiting", "Added", "Retried", "Working for s"]}
      rows={[...depth.keys()]
        .toSorted()
        .map((name) => [name, depth.get(name), adds.get(name), retries.get(name), running.get(name)])}
    />
  );
}

/** Numbers of stored objects, the most first. */
function StoredObjects({ metrics }: MetricsProps) {
  const counts = [...sumsBy(metrics, "apiserver_storage_objects", "resource")];
  return (
    <NumberTable
      title={`Stored objects: ${numberText(sumOf(metrics, "apiserver_storage_objects"))}`}
      columns={["Resource", "Objects"]}
      rows={counts.filter(([, count]) => count > 0).toSorted(([, one], [, other]) => other - one)}
    />
  );
}

interface NumberTableProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly [string, ...(number | undefined)[]])[];
}

function NumberTable({ title, columns, rows }: NumberTableProps) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <table class="plain numbers">
        <TableHead columns={columns} />
        <tbody>
          {rows.map(([name, ...values]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values.map((value, at) => (
                <td key={columns[at + 1]}>{numberText(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
