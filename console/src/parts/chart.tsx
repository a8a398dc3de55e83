/** A line of a chart. */
export interface Line {
  readonly label: string;
  /** NaN where there is no value. */
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Times of the values in milliseconds since 1970. */
  readonly timesMs: readonly number[];
}

const [width, height] = [320, 110];
/** The rectangle of the lines; the texts of the axes are left of it and below. */
const plot = { left: 40, right: width - 4, top: 8, bottom: height - 18 };

/** A chart of lines with axes over the last hour, with their newest values as text. */
export function Chart({ title, unit, lines, timesMs }: ChartProps) {
  const all = lines.flatMap(({ values }) => values.filter((value) => Number.isFinite(value)));
  const top = niceTop(Math.max(0, ...all));
  const [startMs, endMs] = [timesMs[0] ?? 0, timesMs.at(-1) ?? 1];
  const x = (at: number) =>
    plot.left +
    (((timesMs[at] ?? endMs) - startMs) / Math.max(1, endMs - startMs)) * (plot.right - plot.left);
  const y = (value: number) => plot.bottom - (value / top) * (plot.bottom - plot.top);
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="note">{unit}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title} in ${unit} over time`}>
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line class="axis" x1={plot.left} x2={plot.right} y1={y(value)} y2={y(value)} />
            <text x={plot.left - 4} y={y(value) + 3} text-anchor="end">
              {numberText(value)}
            </text>
          </g>
        ))}
        <text x={plot.left} y={height - 4}>
          {timesMs.length > 1 ? clockText(startMs) : ""}
        </text>
        <text x={plot.right} y={height - 4} text-anchor="end">
          {timesMs.length > 0 ? clockText(endMs) : ""}
        </text>
        {lines.map(({ label, values }, index) => (
          <polyline
            key={label}
            class={`line-${index}`}
            points={values
              .map((value, at) => [at, value] as const)
              .filter(([, value]) => Number.isFinite(value))
              .map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`)
              .join(" ")}
          />
        ))}
      </svg>
      <p class="legend">
        {lines.map(({ label, values }, index) => (
          <span key={label} class={`key-${index}`}>
            {label} <strong>{numberText(values.at(-1))}</strong>
          </span>
        ))}
        <span class="note">highest {numberText(all.length === 0 ? undefined : Math.max(...all))}</span>
      </p>
    </figure>
  );
}

/** The end of an axis: the next of 1, 2 and 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((factor) => factor * power >= value) ?? 10) * power;
}

function clockText(ms: number): string {
  return new Date(ms).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  });
}

/** A number with at most three significant digits. */
export function numberText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
