export const sections: readonly { readonly title: string; readonly entries: readonly unknown[] }[];
