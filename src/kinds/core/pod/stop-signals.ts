import type { FieldReport } from "../../../schema/faults.ts";

const realTimeSignals = [
  ...Array.from({ length: 15 }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `SIGRTMAX-${14 - index}`),
];

const signalNames =
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT " +
  "STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX";

const linuxSignals: ReadonlySet<string> = new Set([
  ...signalNames.split(" ").map((name) => `SIG${name}`),
  ...realTimeSignals,
]);

const windowsSignals: ReadonlySet<string> = new Set(["SIGTERM", "SIGKILL"]);

/**
 * Checks the signal that stops a container.
 *
 * @param os name of the pod's operating system; undefined if the pod doesn't name it.
 */
export function checkStopSignal(signal: string, os: string | undefined, report: FieldReport): void {
  if (os === undefined) {
    report.forbidden("may not be set for containers with empty `spec.os.name`");
    return;
  }
  const signals = os === "windows" ? windowsSignals : linuxSignals;
  if (!signals.has(signal)) report.notSupported(signal, [...signals].toSorted());
}
