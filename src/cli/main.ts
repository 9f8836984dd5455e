#!/usr/bin/env node
import { wantsColour } from '../config.js';
import type { SmithyError } from '../core/errors.js';
import { systemCode } from '../core/system-errors.js';
import { readGlobals, type GlobalFlags } from './args.js';
import { describeError, ownFailure, unwritten } from './errors.js';
import { run } from './run.js';

/** Exit codes are those of the error table; a broken pipe ends quietly, as in every other tool. */
async function main(): Promise<void> {
  let globals: GlobalFlags = { json: false, help: false, version: false, force: false };
  process.stdout.on('error', (error: Error) => process.exit(afterLostOutput(error, globals)));
  try {
    const read = readGlobals(process.argv.slice(2));
    globals = read.globals;
    process.exitCode = await run(read.globals, read.rest);
  } catch (thrown) {
    process.exitCode = tell(ownFailure(thrown), globals);
  }
}

/** Whoever stops reading has what they want; a disk that is full has not. */
function afterLostOutput(error: Error, globals: GlobalFlags): number {
  if (systemCode(error) === 'EPIPE') return 0;
  return tell(unwritten(error), globals);
}

function tell(error: SmithyError, { json }: GlobalFlags): number {
  process.stderr.write(describeError(error, { json, colour: wantsColour(process.stderr) }));
  return error.exitCode;
}

await main();
