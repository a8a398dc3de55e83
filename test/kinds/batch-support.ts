import { container } from "./pod-support.ts";

export const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));
export const pods = { spec: { containers: [container], restartPolicy: "Never" } };
