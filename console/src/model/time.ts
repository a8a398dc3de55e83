/** Returns an age as in tables: `12s`, `5m`, `3h12m`, `7d`, `2y`. */
export function ageText(ms: number): string {
  if (Number.isNaN(ms)) return "";
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  return withRest(Math.floor(days / 365), "y", days % 365, "d");
}

function withRest(value: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`;
}

/** A time with its age; empty if there is none. */
export function timeText(time: string | null | undefined): string {
  if (time === undefined || time === null || time === "") return "";
  return `${time} (${ageText(Date.now() - Date.parse(time))} ago)`;
}
