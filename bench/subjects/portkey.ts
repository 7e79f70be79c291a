/** The npm package @portkey-ai/gateway, from a folder in which it has been installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../processes.js';
import { freePort } from './free-port.js';
import type { Subject, Surroundings } from './subject.js';

const PROGRAM = join('node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');

/** Null if the folder does not hold it. */
export async function startPortkey(
  { mock, folder }: Surroundings,
  installedIn: string,
): Promise<Subject | null> {
  const program = join(installedIn, PROGRAM);
  if (!existsSync(program)) return null;
  const port = await freePort();
  const { pid } = await start({
    args: [program, `--port=${port}`, '--headless'],
    ready: /(Ready for connections)/,
    log: join(folder, 'portkey.log'),
  });
  return {
    name: 'portkey',
    origin: `http://127.0.0.1:${port}`,
    headers: {
      authorization: 'Bearer bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${mock}/v1`,
    },
    pids: { portkey: pid },
    isPeer: true,
  };
}
