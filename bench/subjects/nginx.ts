/** nginx with one worker, set up as it would be in front of a model server. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../processes.js';
import { freePort } from './free-port.js';
import type { Subject, Surroundings } from './subject.js';

/** Null if nginx is not installed. */
export async function startNginx({ mock, folder }: Surroundings): Promise<Subject | null> {
  if (spawnSync('nginx', ['-v']).status !== 0) return null;
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, port, new URL(mock).host));
  const { pid } = await start({
    program: 'sh',
    // nginx says nothing when it is ready; it has bound its port when its configuration test has
    // passed.
    args: [
      '-c',
      `nginx -t -q -p ${folder} -c ${file} && echo ready && exec nginx -p ${folder} -c ${file}`,
    ],
    ready: /^(ready)$/,
    log: join(folder, 'nginx.log'),
  });
  await untilListening(port);
  return {
    name: 'nginx',
    origin: `http://127.0.0.1:${port}`,
    headers: {},
    pids: { nginx: pid },
    isPeer: true,
  };
}

function configuration(folder: string, port: number, upstream: string): string {
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  upstream mock { server ${upstream}; keepalive 1024; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    keepalive_requests 100000000;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const url = `http://127.0.0.1:${port}/v1/models`;
    const ok = await fetch(url).then(
      (answer) => answer.text().then(() => answer.ok),
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nginx does not answer on port ${port}`);
}
