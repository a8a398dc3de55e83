export const root: string;
export const pages: readonly string[];
export function titleOf(file: string): string;
export function summaryOf(file: string): string;
export function addressOf(file: string): string;
export function resolveLink(page: string, link: string, base: string): string | undefined;
export function linkedFiles(): string[];
export function filesOf(name: string): string[];
