import { containersOf, portText, recordAt, records, textAt } from "../../../model/containers.ts";
import { isRecord } from "../../../model/paths.ts";
import { Breakable } from "../../../parts/breakable.tsx";
import { StateText } from "../../../parts/state-text.tsx";
import { TableHead } from "../../../parts/table-head.tsx";
import { Section, type DetailProps } from "./section.tsx";

/** The containers of a pod or template, with their states. */
export function Containers({ object }: DetailProps) {
  const containers = containersOf(object);
  if (containers.length === 0) return null;
  const hasStates = containers.some(({ state }) => state !== "");
  const columns = [
    "Name",
    "Image",
    ...(hasStates ? ["State", "Ready", "Restarts"] : []),
    "Ports",
    "Resources",
  ];
  return (
    <Section title="Containers" note={String(containers.length)}>
      <div class="wide" tabIndex={0} role="region" aria-label="Containers as a table">
        <table class="plain">
          <TableHead columns={columns} />
          <tbody>
            {containers.map(({ name, role, image, state, message, ready, restarts, ports, resources }) => (
              <tr key={`${role} ${name}`}>
                <th scope="row">
                  {name} {role !== "" && <span class="note">{role}</span>}
                </th>
                <td class="code image">
                  <Breakable text={image} />
                </td>
                {hasStates && (
                  <>
                    <td>
                      <StateText text={state} />
                      {message !== "" && <p class="note">{message}</p>}
                    </td>
                    <td>
                      {ready === undefined ? (
                        ""
                      ) : (
                        <StateText text={ready ? "yes" : "no"} tone={ready ? "good" : "waiting"} />
                      )}
                    </td>
                    <td>{restarts}</td>
                  </>
                )}
                <td>{ports}</td>
                <td>{resources}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** Wanted and present replicas of a workload. */
export function Replicas({ object }: DetailProps) {
  const [spec, status] = [recordAt(object, "spec"), recordAt(object, "status")];
  const desired = numberAt(spec, "replicas") ?? numberAt(status, "desiredNumberScheduled");
  if (desired === undefined) return null;
  const counts = [
    ["ready", numberAt(status, "readyReplicas") ?? numberAt(status, "numberReady") ?? 0],
    ["up to date", numberAt(status, "updatedReplicas") ?? numberAt(status, "updatedNumberScheduled")],
    ["available", numberAt(status, "availableReplicas") ?? numberAt(status, "numberAvailable")],
  ] as const;
  return (
    <Section title="Replicas">
      <p class="links">
        {counts.map(
          ([label, count]) =>
            count !== undefined && (
              <span key={label}>
                <StateText text={`${count}/${desired}`} /> {label}
              </span>
            ),
        )}
      </p>
    </Section>
  );
}

function numberAt(value: Readonly<Record<string, unknown>> | undefined, name: string): number | undefined {
  const member = value?.[name];
  return typeof member === "number" ? member : undefined;
}

/** The ports of a service. */
export function ServicePorts({ object }: DetailProps) {
  const spec = recordAt(object, "spec");
  const ports = records(spec?.["ports"]);
  return (
    <Section title="Ports" note={textAt(spec, "type")}>
      {ports.length === 0 ? (
        <p class="note">It has no ports.</p>
      ) : (
        <table class="plain">
          <TableHead columns={["Port", "Target port", "Node port", "Address"]} />
          <tbody>
            {ports.map((port, at) => (
              <tr key={at}>
                <th scope="row">{portText(port)}</th>
                <td>{scalarText(port["targetPort"])}</td>
                <td>{scalarText(port["nodePort"])}</td>
                <td class="code">{textAt(spec, "clusterIP")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function scalarText(value: unknown): string {
  return value === undefined || value === null || isRecord(value) ? "" : String(value);
}

/** The hosts and paths of an ingress, and the services behind them. */
export function IngressRules({ object }: DetailProps) {
  const rules = records(recordAt(object, "spec")?.["rules"]);
  const rows = rules.flatMap((rule) =>
    records(recordAt(rule, "http")?.["paths"]).map((path) => {
      const service = recordAt(recordAt(path, "backend"), "service");
      const port = recordAt(service, "port");
      return [
        textAt(rule, "host") || "any",
        `${textAt(path, "path") || "/"} (${textAt(path, "pathType")})`,
        `${textAt(service, "name")}:${scalarText(port?.["number"] ?? port?.["name"])}`,
      ];
    }),
  );
  if (rows.length === 0) return null;
  return (
    <Section title="Rules" note={String(rows.length)}>
      <table class="plain">
        <TableHead columns={["Host", "Path", "Service"]} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.join(" ")}>
              {row.map((text, at) => (
                <td key={at}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
