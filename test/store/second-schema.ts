/** The data folder of a coordinator from before jobs, with a member, a file and usage. */
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW } from './store-rows.js';

export const MIGRATIONS = fileURLToPath(
  new URL('../../packages/coordinator/migrations/sqlite', import.meta.url),
);
export const ANNA = '01AAAAAAAAAAAAAAAAAAAAAAAA';
export const ASSET = 'a'.repeat(22);

export async function secondSchema(): Promise<string> {
  const folder = join(await temporaryFolder(), 'data');
  const known = join(await temporaryFolder(), 'migrations');
  await mkdir(folder, { mode: 0o700 });
  await mkdir(known);
  for (const file of ['0001_initial.sql', '0002_assets_and_metering.sql']) {
    await copyFile(join(MIGRATIONS, file), join(known, file));
  }
  const database = openDatabase(join(folder, 'gateway.db'));
  migrate(database, known);
  database.exec(
    `insert into members (id, email, name, role, created_at)
       values ('${ANNA}', 'anna@example.org', 'anna', 'member', 1);
     insert into assets values ('${ASSET}', '${ANNA}', null, 'req_1', 'kokoro', 'speech',
       'audio/wav', 12, '${'0'.repeat(64)}', 1.5, ${NOW}, ${NOW + 1_000});
     insert into usage (request_id, at, member_id, key_id, model, service_type, endpoint,
         prompt_tokens, completion_tokens, queue_ms, total_ms, attempts, outcome, source)
       values ('req_1', ${NOW}, '${ANNA}', 'key', 'kokoro', 'tts', 'speech', 0, 0, 0, 9, 1, 'ok',
         'api');
     insert into usage_daily values ('2025-10-09', '${ANNA}', 'key', '', 'kokoro', 'speech', 'api',
       'ok', 1, 0, 0, 0, 0, 9);`,
  );
  database.close();
  return folder;
}
