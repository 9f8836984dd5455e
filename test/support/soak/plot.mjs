/** Curves over time as one SVG, each in a panel of its own; kills are lines through all of them. */
const WIDTH = 900;
const PANEL = 150;
const LEFT = 70;
const GAP = 34;

/** `panels`: [{ title, unit, curves: [{ name, points: [[seconds, value]] }] }]. */
export function plot({ title, panels, marks, seconds }) {
  const x = (at) => LEFT + ((WIDTH - LEFT - 20) * at) / Math.max(1, seconds);
  const height = 50 + panels.length * (PANEL + GAP);
  const colours = ['#2563eb', '#dc2626', '#059669'];
  const body = panels.map(({ title: name, unit, curves }, number) => {
    const top = 50 + number * (PANEL + GAP);
    const most = Math.max(
      1e-9,
      ...curves.flatMap(({ points }) => points.map(([, value]) => value)),
    );
    const y = (value) => top + PANEL - (PANEL * value) / (most * 1.1);
    const lines = curves.map(({ name: what, points }, place) => {
      const path = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
      const label = `<text x="${WIDTH - 20}" y="${top + 14 + place * 14}" text-anchor="end" fill="${colours[place]}">${what}</text>`;
      return `<polyline fill="none" stroke="${colours[place]}" stroke-width="1.5" points="${path.join(' ')}"/>${label}`;
    });
    const ticks = [0, 0.5, 1].map((share) => {
      const value = most * share;
      return `<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${round(value)} ${unit}</text>`;
    });
    return [
      `<text x="${LEFT}" y="${top - 8}" font-weight="bold">${name}</text>`,
      `<rect x="${LEFT}" y="${top}" width="${WIDTH - LEFT - 20}" height="${PANEL}" fill="none" stroke="#ccc"/>`,
      ...marks.map(
        (at) =>
          `<line x1="${x(at)}" x2="${x(at)}" y1="${top}" y2="${top + PANEL}" stroke="#f59e0b" stroke-width="0.7" stroke-dasharray="3 3"/>`,
      ),
      ...ticks,
      ...lines,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="${LEFT}" y="22" font-size="14">${title}</text>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
}

function round(value) {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(2));
}
