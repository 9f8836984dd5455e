#!/usr/bin/env node
import { wantsColour } from '../config.js';
import { readGlobals, type GlobalFlags } from './args.js';
import { describeError, ownFailure } from './errors.js';
import { run } from './run.js';

/** Exit codes are those of the error table; a broken pipe ends quietly, as in every other tool. */
async function main(): Promise<void> {
  process.stdout.on('error', () => process.exit(0));
  let globals: GlobalFlags = { json: false, help: false, version: false, force: false };
  try {
    const read = readGlobals(process.argv.slice(2));
    globals = read.globals;
    process.exitCode = await run(read.globals, read.rest);
  } catch (thrown) {
    const error = ownFailure(thrown);
    const colour = wantsColour(process.stderr);
    process.stderr.write(describeError(error, { json: globals.json, colour }));
    process.exitCode = error.exitCode;
  }
}

await main();
