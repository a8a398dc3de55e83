import type { FieldReport } from "../../../schema/faults.ts";

const handlers = ["exec", "httpGet", "tcpSocket", "grpc"] as const;

type Handlers = { readonly [name in (typeof handlers)[number]]?: object | undefined };

/** Requires exactly one handler of a probe or hook. */
export function oneHandler(holder: Handlers, place: FieldReport): void {
  const given = handlers.filter((name) => holder[name] !== undefined);
  if (given.length === 0) place.required("must specify a handler type");
  for (const name of given.slice(1)) place.at(name).forbidden("may not specify more than 1 handler type");
}

const headerName = /^[-A-Za-z0-9]+$/;

/** Checks names of headers; reported at the list, as in the reference. */
export function headerNames(headers: readonly { readonly name: string }[], place: FieldReport): void {
  for (const { name } of headers) {
    if (place.full) return;
    if (!headerName.test(name)) place.invalid(name, "a header's name has only letters, digits and '-'");
  }
}
