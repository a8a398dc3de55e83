import { qualifiedNameFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Absent, EventFacts } from "./event-facts.ts";
import { isGiven } from "./event-facts.ts";

const maxNameLength = 128;
const maxMessageLength = 1024;

/**
 * Checks an event. With `eventTime` it is of the newer style, which requires the reporter and the reason; without, it
 * is of the older style.
 *
 * @param controller name of the field with the reporting controller in this version; all other paths are those of
 *   core.
 */
export function checkEvent(
  event: EventFacts,
  controller: "reportingComponent" | "reportingController",
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  const namespace = event.namespace ?? "";
  const about = event.object?.namespace ?? "";
  const newStyle = isGiven(event.eventTime);
  const ownerless = newStyle ? ["default", vocabulary.systemNamespace] : ["", "default"];
  const fits = about === "" ? ownerless.includes(namespace) : newStyle || about === namespace;
  if (!fits) report.at("involvedObject", "namespace").invalid(about, "does not match event.namespace");
  if (!newStyle) return;
  const reporter = event.controller ?? "";
  if (reporter === "") report.at(controller).required();
  for (const message of qualifiedNameFaults(reporter)) report.at(controller).invalid(reporter, message);
  for (const [name, text = ""] of [
    ["reportingInstance", event.instance],
    ["action", event.action],
    ["reason", event.reason],
  ] as const) {
    if (text === "") report.at(name).required();
    if (Buffer.byteLength(text) > maxNameLength) {
      report.at(name).invalid("", `can have at most ${maxNameLength} characters`);
    }
  }
  if (Buffer.byteLength(event.message ?? "") > maxMessageLength) {
    report.at("message").invalid("", `can have at most ${maxMessageLength} characters`);
  }
}

/** Requires a series of at least two events. */
export function checkSeries(series: EventFacts["series"], report: FieldReport): void {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2)
    report.at("series", "count").invalid(series.count ?? 0, "should be at least 2");
  if (!isGiven(series.lastObservedTime)) report.at("series", "lastObservedTime").required();
}

/** Members of the older style only. */
interface OldStyle {
  readonly first?: string | Absent;
  readonly last?: string | Absent;
  readonly count?: number | undefined;
  readonly source?:
    { readonly component?: string | undefined; readonly host?: string | undefined } | undefined;
}

/** Rejects members of the older style in a new event of the newer style. */
export function checkNothingOld({ first, last, count = 0, source }: OldStyle, report: FieldReport): void {
  const unset = "needs to be unset";
  if (isGiven(first)) report.at("firstTimestamp").invalid("", unset);
  if (isGiven(last)) report.at("lastTimestamp").invalid("", unset);
  if (count !== 0) report.at("count").invalid("", unset);
  if ((source?.component ?? "") !== "" || (source?.host ?? "") !== "") report.at("source").invalid("", unset);
}
