import type { FieldReport } from "../../../schema/faults.ts";

const handlers = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

type Handlers = { readonly [name in (typeof handlers)[number]]?: object | undefined };

/** Requires exactly one handler of a probe or hook. */
export function oneHandler(holder: Handlers, report: FieldReport): void {
  const present = handlers.filter((name) => holder[name] !== undefined);
  if (present.length === 0) report.required("must specify a handler type");
  for (const name of present.slice(1)) report.at(name).forbidden("may not specify more than 1 handler type");
}

const headerName = /^[-A-Za-z0-9]+$/;

/** Checks names of headers; reported at the list, as in the reference. */
export function headerNames(headers: readonly { readonly name: string }[], report: FieldReport): void {
  for (const { name } of headers) {
    if (report.full) return;
    if (!headerName.test(name)) report.invalid(name, "a header's name has only letters, digits and '-'");
  }
}
