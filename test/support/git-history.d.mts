/** The newest `count` commits along the first parents, the oldest first. */
export function commitsOf(
  repository: string,
  count: number,
): readonly { readonly id: string; readonly subject: string }[];
