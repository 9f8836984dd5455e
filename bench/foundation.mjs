/** Socket, command line and rules against their targets, as a section of BENCHMARKS.md. */
import { measureCold } from './cold.mjs';
import { round, verdict } from './numbers.mjs';
import { measureRpc } from './rpc.mjs';
import { measureRules } from './rules.mjs';

export async function foundationSection() {
  const { daemonP50, rawP50, daemonRate, rawRate } = await measureRpc();
  const cold = measureCold();
  const rules = measureRules();

  const trip = daemonP50 / rawP50;
  const leastRate = Math.min(15_000, 0.6 * rawRate);
  const mostCold = 1.5 * cold.node + daemonP50;
  const micro = (milliseconds) => `${round(milliseconds * 1000, 0)} µs`;

  const rows = [
    ['what', 'smithyd', 'compared with', 'target', ''],
    ['---', '---', '---', '---', '---'],
    [
      '`status` over the socket, p50',
      micro(daemonP50),
      `${micro(rawP50)} raw \`node:net\` JSON lines`,
      `at most 1.3 times raw; is ${round(trip)}`,
      verdict(trip <= 1.3),
    ],
    [
      '`status` from 50 clients at once',
      `${round(daemonRate, 0)} a second`,
      `${round(rawRate, 0)} a second raw`,
      `at least 15,000 or 60 % of raw (${round(leastRate, 0)}); is ${round((100 * daemonRate) / rawRate, 0)} %`,
      verdict(daemonRate >= leastRate),
    ],
    [
      'cold `smithyd status`, median',
      `${round(cold.status, 1)} ms`,
      `${round(cold.node, 1)} ms bare \`node -e 0\``,
      `at most 1.5 times bare plus the round trip (${round(mostCold, 1)} ms); is ${round(cold.status / cold.node)} times`,
      verdict(cold.status <= mostCold),
    ],
    [
      'ignore rules answered otherwise than git',
      `${rules.ours} of ${rules.paths} hard cases`,
      `${rules.theirs} by the package \`ignore\``,
      'none',
      verdict(rules.ours === 0),
    ],
  ];
  return [
    'Each pair is measured in turns within one run, so that a busy machine hits both.',
    '',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ];
}
