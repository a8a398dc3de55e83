interface Target {
  readonly value?: string | undefined;
  readonly averageValue?: string | undefined;
  readonly averageUtilization?: number | undefined;
}

interface Spec {
  readonly type: string;
  readonly object?: { readonly target: Target } | undefined;
  readonly pods?: { readonly target: Target } | undefined;
  readonly resource?: { readonly name: string; readonly target: Target } | undefined;
  readonly external?: { readonly target: Target } | undefined;
  readonly containerResource?: { readonly name: string; readonly target: Target } | undefined;
}

interface Status {
  readonly object?: { readonly current: Target } | undefined;
  readonly pods?: { readonly current: Target } | undefined;
  readonly resource?: { readonly current: Target } | undefined;
  readonly external?: { readonly current: Target } | undefined;
  readonly containerResource?: { readonly current: Target } | undefined;
}

const maxMetrics = 2;
const unknown = "<unknown>";

/** Returns the scaled object as `Kind/name`. */
export function referenceText(
  reference: { readonly kind: string; readonly name: string } | undefined,
): string {
  return reference === undefined ? "" : `${reference.kind}/${reference.name}`;
}

/**
 * Returns current and target values of the first two metrics: `40%/80%, 3/10 (avg) + 1 more...`.
 *
 * @param named whether metrics of resources begin with the name of the resource: `cpu: 40%/80%`.
 */
export function targetsText(
  metrics: readonly Spec[] | null,
  statuses: readonly Status[] | null,
  named: boolean,
): string {
  if (metrics === null || metrics.length === 0) return "<none>";
  const cells = metrics.slice(0, maxMetrics).map((metric, index) => {
    const name = (metric.resource ?? metric.containerResource)?.name;
    const text = targetText(metric, statuses?.[index]);
    return named && name !== undefined ? `${name}: ${text}` : text;
  });
  const more = metrics.length - maxMetrics;
  return cells.join(", ") + (more > 0 ? ` + ${more} more...` : "");
}

function targetText(metric: Spec, status: Status | undefined): string {
  switch (metric.type) {
    case "External":
      return valueText(metric.external?.target, status?.external?.current);
    case "Object":
      return valueText(metric.object?.target, status?.object?.current);
    case "Pods":
      return averageText(metric.pods?.target, status?.pods?.current);
    case "Resource":
      return resourceText(metric.resource?.target, status?.resource?.current);
    case "ContainerResource":
      return resourceText(metric.containerResource?.target, status?.containerResource?.current);
    default:
      return "<unknown type>";
  }
}

function valueText(target: Target = {}, current: Target = {}): string {
  if (target.averageValue !== undefined) return `${averageText(target, current)} (avg)`;
  return `${current.value ?? unknown}/${target.value ?? unknown}`;
}

function averageText(target: Target = {}, current: Target = {}): string {
  return `${current.averageValue ?? unknown}/${target.averageValue ?? unknown}`;
}

function resourceText(target: Target = {}, current: Target = {}): string {
  if (target.averageValue !== undefined) return averageText(target, current);
  const percent = (value: number | undefined, otherwise: string) =>
    value === undefined ? otherwise : `${value}%`;
  return `${percent(current.averageUtilization, unknown)}/${percent(target.averageUtilization, "<auto>")}`;
}
