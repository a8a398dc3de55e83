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
}

const [width, height] = [320, 72];

/** A small chart of lines over the last hour, with their newest values as text. */
export function Chart({ title, unit, lines }: ChartProps) {
  const all = lines.flatMap(({ values }) => values.filter((value) => Number.isFinite(value)));
  const top = Math.max(1e-9, ...all);
  const count = Math.max(2, ...lines.map(({ values }) => values.length));
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="note">{unit}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over time`}
      >
        {lines.map(({ label, values }, index) => (
          <polyline
            key={label}
            class={`line-${index}`}
            points={values
              .map((value, at) => [at + count - values.length, value] as const)
              .filter(([, value]) => Number.isFinite(value))
              .map(
                ([at, value]) => `${(at / (count - 1)) * width},${height - 2 - (value / top) * (height - 6)}`,
              )
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

/** A number with at most three significant digits. */
export function numberText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
