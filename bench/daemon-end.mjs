import { setTimeout as pause } from 'node:timers/promises';

/** Ends the daemon of a client, and waits for its process: it still writes after its last answer. */
export async function endDaemon(client) {
  const { pid } = await client.status({});
  await client.shutdown();
  await client.close();
  while (isAlive(pid)) await pause(10);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
