/** The known names a typo most likely meant, best first. */
export function nearest(given: string, known: Iterable<string>, most = 3): string[] {
  const wanted = given.toLowerCase().slice(0, 64);
  // Beyond a third of the letters wrong it is a guess, not a typo; and one letter has to be right.
  const tolerance = Math.min(wanted.length - 1, Math.max(2, Math.floor(wanted.length / 3)));
  return [...known]
    .map((name) => ({ name, distance: distanceTo(wanted, name) }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map(({ name }) => name);
}

function distanceTo(wanted: string, name: string): number {
  const candidate = name.toLowerCase().slice(0, 64);
  if (wanted.length >= 3 && candidate.startsWith(wanted)) return 0;
  return editDistance(wanted, candidate);
}

/** Levenshtein, two rows. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A hint out of near matches; nothing when there is none. */
export function didYouMean(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return `Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
}
