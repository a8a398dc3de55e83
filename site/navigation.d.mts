export const sections: readonly { readonly title: string; readonly entries: readonly unknown[] }[];
export const longLists: readonly string[];
