/** Clocks that lie, by libfaketime: only the wall clock moves, as when somebody sets it. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LIBRARIES = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib'].map(
  (folder) => join(folder, 'faketime/libfaketimeMT.so.1'),
);

/** Sets the clock of a daemon that was started with `faked`: `+3600`, `-1d`. */
export function clockFile(stage, offset) {
  const file = join(stage.scratch('clock'), '.faketimerc');
  writeFileSync(file, `${offset}\n`);
  return file;
}

/** The environment of a daemon whose clock can be set while it runs. */
export function faked(stage, offset) {
  return {
    LD_PRELOAD: LIBRARIES.find((file) => existsSync(file)),
    // The daemon drops every variable it does not know; the library then looks in the home folder.
    HOME: dirname(clockFile(stage, offset)),
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
}
