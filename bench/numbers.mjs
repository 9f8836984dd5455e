/** The value below which this part of the values lies. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

export const round = (value, digits = 2) => Number(value.toFixed(digits));

export const verdict = (isMet) => (isMet ? 'met' : 'MISSED');
