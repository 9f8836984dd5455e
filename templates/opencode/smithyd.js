/** Tells smithyd what opencode does. Put here by `smithyd setup opencode`. */
import { spawn } from 'node:child_process';

export const Smithyd = async ({ directory }) => {
  /** What the hook answers; nothing when it cannot be run, which must not disturb anybody. */
  const tell = (news) =>
    new Promise((resolve) => {
      const child = spawn('smithyd', ['agent-hook', 'opencode'], {
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      let text = '';
      child.stdout.on('data', (chunk) => (text += chunk));
      child.on('error', () => resolve({}));
      child.on('close', () => {
        try {
          resolve(JSON.parse(text));
        } catch {
          resolve({});
        }
      });
      child.stdin.on('error', () => undefined);
      child.stdin.end(JSON.stringify({ directory, ...news }));
    });

  return {
    'chat.message': async ({ sessionID, messageID }, { message, parts }) => {
      const prompt = parts
        .filter(({ type, synthetic }) => type === 'text' && synthetic !== true)
        .map(({ text }) => text)
        .join('\n');
      // `opencode run` tells the id in the message alone.
      const id = messageID ?? message?.id;
      await tell({ event: 'chat.message', sessionID, messageID: id, prompt });
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const news = { event: 'tool.execute.before', sessionID, callID, tool, args };
      const { refused } = await tell(news);
      if (refused !== undefined) throw new Error(refused);
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }) => {
      await tell({ event: 'tool.execute.after', sessionID, callID, tool, args });
    },
    event: async ({ event }) => {
      if (event.type !== 'session.idle') return;
      await tell({ event: 'session.idle', sessionID: event.properties.sessionID });
    },
  };
};
