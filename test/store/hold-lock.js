// Locks the folder and keeps the lock until it is killed, even when the garbage collector runs.
import { lockFolder } from '@inference-gateway/coordinator/store/sqlite/lock';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

lockFolder(process.argv[2] ?? '');
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
for (let i = 0; i < 3; i++) await new Promise((done) => setImmediate(() => done(collect())));
console.log('locked');
setInterval(() => {}, 60_000);
